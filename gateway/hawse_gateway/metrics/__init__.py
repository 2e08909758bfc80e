"""`GET /metrics` in the Prometheus text format. This package only reads other packages' counters."""
