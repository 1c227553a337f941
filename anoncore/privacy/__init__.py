"""What a release protects: achieved levels, distances from the table, violations."""

from anoncore.privacy.check import Violation, check

__all__ = ["Violation", "check"]
