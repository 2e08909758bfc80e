"""Who may connect and call: `Host` and `Origin` checks, tokens, tickets and principals. No I/O.

It knows no connection and no sandbox.
"""
