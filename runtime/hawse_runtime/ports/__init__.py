"""Listening TCP ports of the sandbox's programs, previews and tunnels: `port.*`.

It knows no HTTP: a tunnel carries bytes.
"""
