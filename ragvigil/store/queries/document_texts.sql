-- Texts by hash. Without FINAL: all rows of a hash hold the same text, so any of them will do.
SELECT hash, any(content) AS content
FROM documents
WHERE hash IN {hashes:Array(String)}
GROUP BY hash
