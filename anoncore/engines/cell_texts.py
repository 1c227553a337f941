"""Published cells of a part's groups as Arrow texts: the same texts as a release in memory has."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.texts import MISSING_TEXT
from anoncore.kernels.arrays import Floats, Int32
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.table.domain import Domain, Kind


class CellTexts:
    """Texts and losses of one quasi-identifier's regions."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @property
    def _is_range(self) -> bool:
        return self.domain.tree is None and self.domain.kind is Kind.NUMERIC

    @cached_property
    def _texts(self) -> pa.Array:
        """The text of every code."""
        values = self.domain.values
        if values and type(values[0]) is int and type(values[-1]) is int:
            # The values of a domain of whole numbers are all of one type; Arrow writes them as Python does.
            texts = pa.array(values, pa.int64()).cast(pa.string())
            return pa.concat_arrays([texts, pa.array([MISSING_TEXT] * self.domain.has_missing, pa.string())])
        return pa.array([self.domain.text(code) for code in range(len(self.domain))], pa.string())

    @cached_property
    def _dashed(self) -> npt.NDArray[np.bool_]:
        """Codes whose text has a minus sign."""
        return np.asarray(pc.match_substring(self._texts, "-"))

    def of_rows(self, partition: Partition, codes: Int32) -> tuple[pa.Array, Floats]:
        """Text and loss of each group: the tightest region of its rows."""
        if not self._is_range:
            recoding = Generalized.of_rows(self.domain, partition, codes)
            return pa.array(recoding.group_texts, pa.string()), recoding.loss()
        low, high = partition.extent(codes)
        return self._ranges(low, high), self._range_loss(low, high)

    def of_boxes(self, partition: Partition, low: Int32, high: Int32) -> tuple[pa.Array, Floats]:
        """Text and loss of each group's box."""
        if self._is_range:
            return self._ranges(low, high), self._range_loss(low, high)
        tree = self.domain.tree
        node = None if tree is None else tree.common_ancestor(low, high)
        form = "interval" if node is None else "node"
        recoding = Generalized(self.domain, partition, form, low, high, node=node)  # type: ignore[arg-type]
        return pa.array(recoding.group_texts, pa.string()), recoding.loss()

    def _range_loss(self, low: Int32, high: Int32) -> Floats:
        extent = self.domain.extent
        steps = self.domain.steps
        return (steps[high] - steps[low]) / extent if extent else np.zeros(len(low))

    def _ranges(self, low: Int32, high: Int32) -> pa.Array:
        """`Generalized.group_texts` of number ranges, for many groups at once."""
        missing = self.domain.missing_code
        with_missing = (high == missing) & (low < high) if missing is not None else np.zeros(len(low), dtype=bool)
        last = high - with_missing.astype(np.int32)
        first_text, last_text = self._texts.take(pa.array(low)), self._texts.take(pa.array(last))
        sign = pc.if_else(pa.array(self._dashed[low] | self._dashed[last]), " to ", "-")
        joined = pc.binary_join_element_wise(first_text, last_text, sign)
        texts = pc.if_else(pc.equal(first_text, last_text), first_text, joined)
        suffix = pc.if_else(pa.array(with_missing), f" or {MISSING_TEXT}", "")
        return pc.binary_join_element_wise(texts, suffix, "")
