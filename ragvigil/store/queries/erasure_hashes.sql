-- The numbers by which statements name ids: what a statement says stays in the store's files.
SELECT cityHash64(arrayJoin({ids:Array(String)})) AS hash
