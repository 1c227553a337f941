"""Vertical fragmentation: overlapping fragments of attributes, each with a partition of its own."""
