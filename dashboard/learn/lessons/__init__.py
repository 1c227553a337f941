"""One module per lesson: `STEPS` to go through and the built-in `TABLE` that it is about."""
