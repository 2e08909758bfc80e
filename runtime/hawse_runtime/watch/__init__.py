"""Changes in directories: `watch.*`, from inotify to a numbered log that clients resume from.

It does not use the file methods.
"""
