"""Grafana dashboards, written by code: `python -m deploy.grafana.make --write`."""
