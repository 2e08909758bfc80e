"""`GET /metrics` in the Prometheus text format. This package only reads the counters of other packages."""
