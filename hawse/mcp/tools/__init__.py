"""The tools that are made for agents, by what they work with. Importing the package declares them."""

from hawse.mcp.tools import code, commands, files, ports, processes, terminals

__all__ = ["code", "commands", "files", "ports", "processes", "terminals"]
