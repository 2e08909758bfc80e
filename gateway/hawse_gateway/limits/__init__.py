"""How often something may happen: token buckets, by connection, user and address. No I/O."""
