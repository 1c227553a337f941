"""Figures of results. Every function is pure: arrays and numbers in, a plotly figure out."""
