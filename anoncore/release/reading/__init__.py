"""Tables that were published by any tool, read back as a release: cells, then which row of the original has which."""
