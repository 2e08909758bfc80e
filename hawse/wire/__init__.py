"""The protocol, pure: no I/O, no asyncio."""
