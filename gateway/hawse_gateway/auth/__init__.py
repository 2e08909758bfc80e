"""Authentication and access: `Host` and `Origin` checks, tokens, tickets and principals. No I/O.

This package knows nothing about connections or sandboxes.
"""
