"""The watch, end to end: what is noticed, what pages, how soon, and what stays quiet.

    .venv/bin/python bench/watch.py [--small] [--seed N] [--factor 60] [--slow FAULT]
                                    [--only notices,signals,audits,faults] [--fault NAME ...]

Notices, signals and audits are simulated: notices.py, signals.py, audits.py. Faults run through
real processes at one clock (watch_rig.py), each on a copy of a store that holds days of healthy
traffic: the daemon, the example service, a judge that reads texts, Prometheus, Alertmanager.
`--slow` is the fault that runs once more at factor 1.
"""
