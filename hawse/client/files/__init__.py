"""File methods, and transfers between local files and the sandbox. They work with any `CallTable`."""
