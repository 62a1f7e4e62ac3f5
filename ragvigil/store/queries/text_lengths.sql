-- Characters of texts by hash. Without FINAL: all rows of a hash hold the same text.
SELECT hash, lengthUTF8(any(content)) AS characters
FROM documents
WHERE hash IN {hashes:Array(String)}
GROUP BY hash
