"""`GET /metrics` in the Prometheus text format. It only reads counters of other packages."""
