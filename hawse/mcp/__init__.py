"""The MCP server (`hawse mcp`): tools and resources for agents that work in a sandbox."""
