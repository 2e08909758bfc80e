"""The project's own benchmarks: `make bench`."""
