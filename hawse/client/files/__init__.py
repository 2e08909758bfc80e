"""File methods, and transfers between local files and the sandbox."""
