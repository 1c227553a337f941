"""Algorithms. A new one needs its own file, one import here, and its test."""

from anoncore.algorithms.anatomy import Anatomy
from anoncore.algorithms.base import Algorithm, Progress
from anoncore.algorithms.incognito import Incognito
from anoncore.algorithms.mask import Mask
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.random_buckets import RandomBuckets
from anoncore.algorithms.slicing import Slicing
from anoncore.model import Registry

ALGORITHMS: Registry[Algorithm] = Registry("algorithm", Algorithm, globals())  # type: ignore[type-abstract]

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Anatomy",
    "Incognito",
    "Mask",
    "Mondrian",
    "Progress",
    "RandomBuckets",
    "Slicing",
]
