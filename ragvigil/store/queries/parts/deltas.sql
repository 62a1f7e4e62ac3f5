-- Deltas that match: every change while those are kept, and those of every full hour.
SELECT * EXCEPT (digest) FROM delta_changes FINAL
@deltas_match
UNION ALL
SELECT * FROM rubric_deltas FINAL
@deltas_match
