"""The sub-commands about the installation: its optional parts, its manual page and the runtime's image."""
