"""Rate limits: token buckets by connection, user and address. No I/O."""
