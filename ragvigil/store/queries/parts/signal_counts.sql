-- Sums of the signals per place and minute, from the records of some replicas; none names all.
    @signal_errors
UNION ALL
    @signal_measures
UNION ALL
    @signal_scores
