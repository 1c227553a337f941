"""Compile everything beforehand, and tell what is compiled already."""
