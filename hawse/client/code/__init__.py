"""Code contexts: run code and get its rich results."""
