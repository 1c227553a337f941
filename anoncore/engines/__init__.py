"""Rothko: Mondrian on tables larger than memory. What an engine offers, the two ways to grow, and how parts end."""
