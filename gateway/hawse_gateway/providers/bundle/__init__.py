"""A directory that lets the runtime start in any Linux image: how it is built and run, and an image of it."""
