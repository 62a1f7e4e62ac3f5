-- What each record shows of its service's setup: pairs of a kind and a value, a row each. Numbers to
-- two digits, prompts by the hashes of their sentences.
SELECT
    minute, service, environment, route,
    NOT mapContains(absent, 'retrieved') AND (notEmpty(`retrieved.chunk_id`) OR ifNull(error, '') = '') AS has_retrieved,
    has_retrieved OR notEmpty(`reranked.chunk_id`) OR notEmpty(`context.chunk_id`) AS has_chunks,
    multiIf(has_retrieved, `retrieved.document_id`, notEmpty(`reranked.chunk_id`), `reranked.document_id`, `context.document_id`) AS documents,
    arrayMap(
        score -> assumeNotNull(score),
        arrayFilter(
            score -> score IS NOT NULL AND abs(score) < 1e300,
            multiIf(has_retrieved, `retrieved.score`, notEmpty(`reranked.chunk_id`), `reranked.score`, `context.score`)
        )
    ) AS ranks,
    arrayJoin(arrayConcat(
        arrayFilter(
            pair -> pair.2 != '',
            [
                ('embedding_model', toString(embedding_model)),
                ('reranker', multiIf(
                    reranker_model != '', toString(reranker_model),
                    context_source = 'inferred', '',
                    NOT mapContains(absent, 'reranked'), if(notEmpty(`reranked.chunk_id`), 'unnamed', ''),
                    absent['reranked'] != 'not_run' OR ifNull(error, '') != '' OR empty(`retrieved.chunk_id`), '',
                    'none'
                )),
                ('index_epoch', if(startsWith(index_epoch, 'noticed '), '', toString(index_epoch))),
                ('llm_model', toString(llm_model)),
                ('prompt', if(notEmpty(prompt_template) AND startsWith(prompt_version, 'sha:'), '', toString(prompt_version))),
                ('temperature', if(temperature IS NULL, '', printf('%g', assumeNotNull(temperature)))),
                ('max_tokens', ifNull(toString(max_tokens), '')),
                ('top_k', ifNull(toString(top_k), '')),
                ('release', toString(service_version)),
                ('template', arrayStringConcat(arrayMap(sentence -> toString(sentence), prompt_template), ' ')),
                ('retrieved', if(has_chunks AND NOT mapContains(absent, 'retrieved'), toString(length(documents)), '')),
                ('in_prompt', if(has_chunks AND NOT mapContains(absent, 'context') AND ifNull(error, '') = '', toString(length(`context.chunk_id`)), '')),
                ('top_score', if(notEmpty(ranks), printf('%.1e', arrayMax(ranks)), '')),
                ('mean_score', if(notEmpty(ranks), printf('%.1e', arrayAvg(ranks)), ''))
            ]
        ),
        arrayMap(
            name -> ('document', name),
            arrayDistinct(arrayFilter(name -> name != '', arrayMap(name -> substringUTF8(name, 1, 200), documents)))
        )
    )) AS shown
FROM records FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND toUnixTimestamp(minute) IN {minutes:Array(UInt32)}
