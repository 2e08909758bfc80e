"""Authentication and access: `Host` and `Origin` checks, tokens, tickets and principals. No I/O.

This package does not depend on connections or sandboxes.
"""
