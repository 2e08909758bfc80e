"""The screen process: the emulator and its snapshots. Other packages must not import from this one."""
