"""The screens of terminals, emulated in a separate process: snapshots, text formats, keys, deferred output.

This package knows neither viewers nor calls nor PTYs.
"""
