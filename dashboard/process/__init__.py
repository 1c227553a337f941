"""The server from its start to its end."""
