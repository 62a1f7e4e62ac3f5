-- Sums of the signals per place and minute, from the records of all daemons.
    @signal_errors
UNION ALL
    @signal_measures
UNION ALL
    @signal_scores
