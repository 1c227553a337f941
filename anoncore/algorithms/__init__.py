"""Algorithms. A new one needs its own file, one import here, and its test."""

from anoncore.algorithms.base import ALGORITHMS, Algorithm
from anoncore.algorithms.bucketization.anatomy import Anatomy
from anoncore.algorithms.bucketization.foreground_safe import ForegroundSafe
from anoncore.algorithms.bucketization.injector import Injector
from anoncore.algorithms.closeness.microaggregation import Microaggregation
from anoncore.algorithms.closeness.random_partition import RandomPartition
from anoncore.algorithms.closeness.sabre import Sabre
from anoncore.algorithms.closeness.sensitive_space import SensitiveSpaceFragmentation
from anoncore.algorithms.closeness.stack_and_deal import StackAndDeal
from anoncore.algorithms.defence.attack_safe import AttackSafe
from anoncore.algorithms.distortion.centroid_microaggregation import CentroidMicroaggregation
from anoncore.algorithms.distortion.pram import Pram
from anoncore.algorithms.full_domain.incognito import Incognito
from anoncore.algorithms.full_domain.local_recoding import LocalRecoding
from anoncore.algorithms.full_domain.optimal_recoding import OptimalRecoding
from anoncore.algorithms.local_suppression import LocalSuppression
from anoncore.algorithms.mask import Mask
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.rothko.rothko_sampling import RothkoSampling
from anoncore.algorithms.rothko.rothko_tree import RothkoTree
from anoncore.algorithms.slicing.random_buckets import RandomBuckets
from anoncore.algorithms.slicing.slicing import Slicing
from anoncore.algorithms.suppression import Suppression
from anoncore.algorithms.synthesis.marginal_synthesis import MarginalSynthesis
from anoncore.algorithms.vertical.vertical_fragmentation import VerticalFragmentation
from anoncore.base.progress import Progress

ALGORITHMS.register(*globals().values())

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Anatomy",
    "AttackSafe",
    "CentroidMicroaggregation",
    "ForegroundSafe",
    "Incognito",
    "Injector",
    "LocalRecoding",
    "LocalSuppression",
    "MarginalSynthesis",
    "Mask",
    "Microaggregation",
    "Mondrian",
    "OptimalRecoding",
    "Pram",
    "Progress",
    "RandomBuckets",
    "RandomPartition",
    "RothkoSampling",
    "RothkoTree",
    "Sabre",
    "SensitiveSpaceFragmentation",
    "Slicing",
    "StackAndDeal",
    "Suppression",
    "VerticalFragmentation",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
