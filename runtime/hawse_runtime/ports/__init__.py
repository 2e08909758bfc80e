"""Listening TCP ports of the sandbox's programs, previews and tunnels: `port.*`.

HTTP is unknown here: a tunnel carries bytes.
"""
