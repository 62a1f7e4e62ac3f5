-- Characters of texts.
SELECT hash, lengthUTF8(any(content)) AS characters
FROM documents
WHERE hash IN {hashes:Array(String)}
GROUP BY hash
