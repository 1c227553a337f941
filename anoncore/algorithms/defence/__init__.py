"""Methods that attack the releases of others before they are published, and repair them."""
