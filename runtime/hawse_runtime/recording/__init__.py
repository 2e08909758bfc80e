"""Recordings of terminals (asciicast v3) and desktops, with keyframes for seeking.

This package knows nothing about viewers. A recording never affects a terminal's output.
"""
