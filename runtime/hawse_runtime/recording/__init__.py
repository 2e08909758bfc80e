"""Recordings of terminals as asciicast v3 with snapshots to seek to.

It knows no viewers; a recording never changes what a terminal prints.
"""
