"""Rate limits with token buckets per connection, user and address. No I/O."""
