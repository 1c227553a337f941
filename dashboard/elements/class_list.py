"""The groups of a release as a list: their levels, the order they are shown in, the text of their regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore import Fragment, Generalized, GroupValues, Partition
from anoncore.kernels.arrays import Codes, Int64
from anoncore.privacy import Profile
from anoncore.release.recoding import Recoding
from anoncore.utility import InformationLoss

MOST_SHOWN = 4_000
MOST_CHARACTERS = 60


@dataclass(frozen=True)
class Order:
    """One way to sort the list: by a column, worst first where one is worse than the other."""

    label: str
    column: str
    ascending: bool


ORDERS = (
    Order("fewest rows first", "size", True),
    Order("most rows first", "size", False),
    Order("farthest from the table first", "distance", False),
    Order("largest share of one value first", "max_share", False),
    Order("fewest different values first", "distinct", True),
    Order("largest information loss first", "loss", False),
    Order("by number", "group", True),
)


def levels(
    fragment: Fragment, profile: Profile, loss: InformationLoss | None, attribute: str | None, ground: str | None
) -> pd.DataFrame:
    """One row per group: group, size, and for the sensitive attribute distinct, entropy, max_share and distance; the
    mean information loss of its quasi-identifiers where the release has one."""
    part = next((one for one in profile.fragments if one.fragment == fragment.name), profile.fragments[0])
    columns: dict[str, npt.NDArray[np.generic]] = {"group": np.arange(len(part.size)), "size": part.size}
    known = part.attributes.get(attribute or "")
    if known is not None:
        columns |= {"distinct": known.distinct, "entropy": known.entropy, "max_share": known.max_share}
        if ground in known.distance:
            columns["distance"] = known.distance[ground]
    per_class = None if loss is None else loss.per_class
    if isinstance(per_class, dict):
        per_class = per_class.get(fragment.name)
    if per_class is not None:
        columns["loss"] = per_class
    return pd.DataFrame(columns)


def orders(frame: pd.DataFrame) -> list[Order]:
    """The orders that the columns at hand allow."""
    return [order for order in ORDERS if order.column in frame.columns]


def listed(frame: pd.DataFrame, sizes: tuple[int, int] | None) -> pd.DataFrame:
    """Only the groups of low..high rows; all of them where no sizes are given."""
    return frame if sizes is None else frame[frame["size"].between(*sizes)]


def shown(frame: pd.DataFrame, order: Order, most: int = MOST_SHOWN) -> pd.DataFrame:
    """The first groups by the order (ties by number), at most `most`."""
    return frame.sort_values(order.column, ascending=order.ascending, kind="stable").head(most).reset_index(drop=True)


def region_texts(recoding: Recoding, groups: Int64) -> npt.NDArray[np.object_]:
    """Published cells of some groups of an attribute that is published by region, object (len(groups),)."""
    if isinstance(recoding, GroupValues):
        few, offsets, members = _sets(recoding, groups)
        return GroupValues(recoding.domain, few, offsets, members).group_texts
    if not isinstance(recoding, Generalized):
        raise TypeError(f"{type(recoding).__name__} publishes rows, not regions.")
    if recoding.form == "set":
        few, offsets, members = _sets(recoding, groups)
        low, high = recoding.low[groups], recoding.high[groups]
        return Generalized(recoding.domain, few, "set", low, high, offsets, members).group_texts
    bounds = recoding.low[groups].astype(np.int64) * len(recoding.domain) + recoding.high[groups]
    _, first, place = np.unique(bounds, return_index=True, return_inverse=True)
    chosen = groups[first]
    node = None if recoding.node is None else recoding.node[chosen]
    different = Generalized(
        recoding.domain, _each(len(chosen)), recoding.form, recoding.low[chosen], recoding.high[chosen], node=node
    )
    return different.group_texts[place]


def _each(count: int) -> Partition:
    return Partition(np.arange(count, dtype=np.int32))


def _sets(recoding: Generalized | GroupValues, groups: Int64) -> tuple[Partition, Int64, Codes]:
    """The value sets of some groups as sets of a smaller recoding."""
    sets = [recoding.values(int(group)) for group in groups]
    return _each(len(groups)), np.concatenate(([0], np.cumsum([len(codes) for codes in sets]))), np.concatenate(sets)


def with_regions(frame: pd.DataFrame, fragment: Fragment, attributes: tuple[str, ...]) -> pd.DataFrame:
    """The list with a text column per generalized attribute, long ones cut; columns are `region: attribute`."""
    groups = frame["group"].to_numpy()
    texts = {
        f"region: {name}": [_cut(text) for text in region_texts(fragment.recodings[name], groups)]
        for name in attributes
        if isinstance(fragment.recodings.get(name), Generalized | GroupValues)
    }
    return frame.assign(**texts)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
