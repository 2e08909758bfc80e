"""File methods, and transfers between local files and the sandbox. They are independent of the connection."""
