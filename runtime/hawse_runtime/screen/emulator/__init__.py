"""The screen process: the emulator and its snapshots. Nothing outside this folder imports from it."""
