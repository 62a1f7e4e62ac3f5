SELECT max(position) AS position, count() AS known FROM checkpoints FINAL WHERE reader = {reader:String}
