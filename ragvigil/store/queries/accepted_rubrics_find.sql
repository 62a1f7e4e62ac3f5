-- Rubrics that people accepted, the newest first; removed ones too where asked.
SELECT *
FROM accepted_rubrics FINAL
WHERE is_removed = 0 OR {with_removed:UInt8} = 1
ORDER BY accepted DESC, name
