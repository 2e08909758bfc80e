"""Terminals: output, input, participants, automation and recordings.

They don't depend on the connection; a terminal is a call that can be resumed.
"""
