"""Algorithms. A new one needs its own file, one import here, and its test."""

from anoncore.algorithms.anatomy import Anatomy
from anoncore.algorithms.base import Algorithm, Progress
from anoncore.algorithms.foreground_safe import ForegroundSafe
from anoncore.algorithms.incognito import Incognito
from anoncore.algorithms.injector import Injector
from anoncore.algorithms.local_recoding import LocalRecoding
from anoncore.algorithms.mask import Mask
from anoncore.algorithms.microaggregation import Microaggregation
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.random_buckets import RandomBuckets
from anoncore.algorithms.random_partition import RandomPartition
from anoncore.algorithms.rothko_sampling import RothkoSampling
from anoncore.algorithms.rothko_tree import RothkoTree
from anoncore.algorithms.sabre import Sabre
from anoncore.algorithms.sensitive_space import SensitiveSpaceFragmentation
from anoncore.algorithms.slicing import Slicing
from anoncore.algorithms.stack_and_deal import StackAndDeal
from anoncore.algorithms.vertical_fragmentation import VerticalFragmentation
from anoncore.model import Registry

ALGORITHMS: Registry[Algorithm] = Registry("algorithm", Algorithm, globals())  # type: ignore[type-abstract]

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Anatomy",
    "ForegroundSafe",
    "Incognito",
    "Injector",
    "LocalRecoding",
    "Mask",
    "Microaggregation",
    "Mondrian",
    "Progress",
    "RandomBuckets",
    "RandomPartition",
    "RothkoSampling",
    "RothkoTree",
    "Sabre",
    "SensitiveSpaceFragmentation",
    "Slicing",
    "StackAndDeal",
    "VerticalFragmentation",
]
