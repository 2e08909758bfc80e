"""Recordings of terminals (asciicast v3) and desktops, with keyframes for seeking.

This package does not know viewers. A recording never affects a terminal's output.
"""
