"""Authentication and access: `Host` and `Origin` checks, tokens, tickets and principals. No I/O.

The package knows nothing about connections or sandboxes.
"""
