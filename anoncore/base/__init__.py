"""What every room uses and what uses none: errors, checked models, progress, scores, texts of values, memory."""

from anoncore.base.estimate import Estimate
from anoncore.base.number import Number
from anoncore.base.progress import Progress
from anoncore.base.score import Score

__all__ = ["Estimate", "Number", "Progress", "Score"]
