"""What most people need: a table judged or anonymized in one call, one's own methods, and no wait for the compiler."""
