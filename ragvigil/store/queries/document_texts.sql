SELECT hash, any(content) AS content
FROM documents
WHERE hash IN {hashes:Array(String)}
GROUP BY hash
