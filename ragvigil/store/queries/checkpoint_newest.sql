-- The position of a reader; `known` is 0 before its first mark, where max() gives 0 as well.
SELECT max(position) AS position, count() AS known FROM checkpoints FINAL WHERE reader = {reader:String}
