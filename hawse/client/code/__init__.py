"""Code contexts: run code with rich results."""
