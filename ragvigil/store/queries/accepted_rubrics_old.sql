-- Live rubrics whose rows were written before a time: these are written anew.
SELECT *
FROM accepted_rubrics FINAL
WHERE is_removed = 0 AND written < toDateTime64({before:UInt32}, 9, 'UTC')
ORDER BY accepted DESC, name
