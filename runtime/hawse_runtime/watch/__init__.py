"""Changes in directories: `watch.*`, from inotify to a numbered log that lets clients resume.

Independent of the file methods.
"""
