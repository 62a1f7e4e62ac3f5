-- Question and answer as words to search by: in lower case, without accents, a space on both sides of
-- each word. Rows that were written before compute it when they are read.
ALTER TABLE records {on_cluster}
    ADD COLUMN IF NOT EXISTS words String MATERIALIZED concat(' ', replaceRegexpAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(concat(ifNull(query, ''), ' \xEE\x80\x80 ', ifNull(answer, ''))), '[\xCC\x80-\xCD\xAF]+', '')), '[^\\pL\\pN\\pM\xEE\x80\x80]+', ' '), ' ') CODEC(ZSTD(1)) AFTER answer;
