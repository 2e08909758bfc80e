"""Directory watches: the `watch.*` methods, from inotify events to a numbered log that clients can resume from.

This package doesn't depend on the file methods.
"""
