"""Terminals: output, input, participants, automation and recordings.

An attached terminal is a call that is resumed if the connection is lost.
"""
