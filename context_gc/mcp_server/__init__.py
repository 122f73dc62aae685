"""The MCP server: receipts as tools for a running agent. Only `server` needs the extra `mcp`."""
