-- Labels with these ids.
SELECT *
FROM labels FINAL
WHERE label_id IN {label_ids:Array(String)}
