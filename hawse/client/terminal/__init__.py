"""Terminals: output, input, participants, automation and recordings.

They do not depend on the connection; a terminal is a call that resumes.
"""
