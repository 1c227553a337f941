"""What most people need: a table judged or anonymized in one call, and methods of one's own."""
