"""A directory with which the runtime starts in any Linux image: how it is built, how it is run, and an image of it."""
