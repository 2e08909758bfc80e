"""`GET /metrics` in the Prometheus text format. It reads counters of other packages and changes nothing."""
