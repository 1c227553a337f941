"""Vertical fragmentation: attributes put into fragments, joins of their classes, and what keeps these joins safe."""
