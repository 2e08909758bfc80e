"""Terminals: output, input, participants, automation and recordings.

They know no connection; a terminal is a call that resumes.
"""
