"""Tables whose rows are nobody's, made from noisy counts by a library that is kept for it."""
