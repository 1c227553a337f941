"""Anonymize a table, see what the release protects, what an adversary still gets, and what it costs."""

from anoncore.base.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
