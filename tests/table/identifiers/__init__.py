"""The finder of identifiers: its parts, and the tables it is tried on."""
