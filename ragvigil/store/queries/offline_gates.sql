-- What the gate said of these runs: of each the newest comparison, with everything that it compared.
SELECT
    run_id, base_release, rubric, dimension, slice, layer, verdict, decides, n, base, new, low,
    high, allowed, sentences, sender
FROM offline_gates FINAL
WHERE run_id IN {run_ids:Array(String)} AND (NOT {is_whole:UInt8} OR rubric = '')
    AND (run_id, written) IN
    (
        SELECT run_id, max(written) FROM offline_gates
        WHERE run_id IN {run_ids:Array(String)} GROUP BY run_id
    )
ORDER BY run_id, rubric, dimension, slice
