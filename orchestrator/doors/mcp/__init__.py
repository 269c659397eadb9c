"""The MCP door: the use cases of one agent as tools of a Model Context Protocol server."""
