"""What one visitor works on: table, tags, wishes, releases, and all that was computed of them."""
