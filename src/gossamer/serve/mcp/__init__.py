"""A crawl as tools of the Model Context Protocol (https://modelcontextprotocol.io).

`tools.py` describes the tools and answers their calls from a crawl, and `sdk_server.py` connects
them to the official SDK. `tokens.py` decides who may call them over HTTP, and how often
(`serve/web/mcp_route.py`). The SDK is an extra: only `sdk_server.py` imports it, when it is used.
"""
