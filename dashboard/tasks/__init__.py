"""What runs in the background, and what a page waits for."""
