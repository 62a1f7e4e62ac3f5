-- Tables that hold rows of single traces, and the column of the trace.
SELECT table, name AS column
FROM system.columns
WHERE database = currentDatabase() AND lower(replaceAll(name, '_', '')) = 'traceid'
    AND table IN {tables:Array(String)}
ORDER BY table
