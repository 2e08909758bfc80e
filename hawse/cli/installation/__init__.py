"""The sub-commands for the installation itself: its parts, its manual page, its image."""
