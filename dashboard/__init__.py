"""The browser page: load a table, tag it, anonymize it, and see what the release protects and costs."""
