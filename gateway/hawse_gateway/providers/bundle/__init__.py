"""The bundle: a directory that contains everything to run the runtime in any Linux image."""
