"""File methods, and transfers between local files and the sandbox. They don't depend on the connection."""
