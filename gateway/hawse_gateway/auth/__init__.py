"""Authentication and access: `Host` and `Origin` checks, tokens, tickets and principals. No I/O.

It knows nothing about connections or sandboxes.
"""
