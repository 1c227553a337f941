"""Slicing and random buckets: columns of attributes that are published unlinked within buckets."""
