"""The bundle: a directory with everything needed to run the runtime in any Linux image."""
