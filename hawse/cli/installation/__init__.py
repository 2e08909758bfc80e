"""The sub-commands that concern the installation itself: its parts, its manual page, its image."""
