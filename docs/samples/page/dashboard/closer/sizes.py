"""The page Sizes: how many rows each group of the shown run has."""

from __future__ import annotations

from dashboard.elements import parts
from dashboard.elements.parts import Tile


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is None:
        return
    fragment = parts.fragment_choice(run.release, "sizes-fragment")
    sizes = fragment.partition.sizes
    parts.tiles(
        [
            Tile("Smallest", f"{sizes.min():,}", f"Rows of the smallest {run.release.group_word}."),
            Tile("Largest", f"{sizes.max():,}", f"Rows of the largest {run.release.group_word}."),
        ]
    )
