"""Tables that several parts of the book are made with."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore import Microdata


def four_fragments() -> tuple[pd.DataFrame, Microdata]:
    """A table of figure 4.8: four fragments with nothing between them, so that the search finds the figure's."""
    pairs = [("x1", "y1", 250), ("x1", "y4", 350), ("x4", "y1", 100), ("x4", "y4", 300)]
    frame = pd.DataFrame([(x, y) for x, y, count in pairs for _ in range(count)], columns=["X", "Y"])
    frame["age"] = np.arange(len(frame)) % 60
    return frame, Microdata(frame, roles={"age": "quasi-identifier", "X": "sensitive", "Y": "sensitive"})
