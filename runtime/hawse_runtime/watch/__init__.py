"""Directory watches: the `watch.*` methods, from inotify events to a numbered log that lets clients resume.

This package is independent of the file methods.
"""
