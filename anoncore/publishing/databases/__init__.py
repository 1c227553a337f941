"""Releases as tables of a database: written there whole or not at all, certified and verified from what it holds."""
