"""Algorithms for t-closeness: Stack & Deal, sensitive-space fragmentation, Sabre, microaggregation."""
