"""The project's benchmarks, run by `make bench`."""
