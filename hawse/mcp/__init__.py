"""The MCP server (`hawse mcp`): the tools and resources by which an agent works in a sandbox."""
