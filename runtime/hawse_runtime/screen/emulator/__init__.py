"""The screen process: the emulator and its snapshots. Other packages do not import from this one."""
