"""The keyed hash of the original table, by which only who has the key can tell that a release was made of it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from anoncore.base.arguments import checked
from anoncore.kernels.arrays import Codes
from anoncore.publishing.certification.digests import Texts, cells_hash
from anoncore.release.reading.published_table import Column, cell_name, cell_texts, text_order
from anoncore.table.microdata import Microdata


@checked
def new_key() -> str:
    """A fresh random key for the hash of the original table.

    Returns
    -------
    str
        32 random bytes in hexadecimal. Keep it, and publish it never: with it a reader could test guesses of the table.

    Examples
    --------
    >>> from anoncore.publishing import new_key
    >>> len(new_key())
    64
    """
    return secrets.token_hex(32)


@checked
def input_hash(data: Microdata, key: str, columns: Sequence[str] | None = None) -> str:
    """The keyed hash of a table's content without its identifiers, whatever the order of its rows.

    Parameters
    ----------
    data : Microdata
        The original table.
    key : str
        The key, such as `new_key` gives one.
    columns : sequence of str, optional
        The columns to hash; by default the attributes of the table.

    Returns
    -------
    str
        HMAC-SHA-256 in hexadecimal.

    Examples
    --------
    >>> from anoncore.publishing import input_hash
    >>> turned = Microdata(people[::-1], roles=data.roles)
    >>> input_hash(data, "key") == input_hash(turned, "key"), input_hash(data, "key") == input_hash(data, "other key")
    (True, False)
    """
    names = data.attributes if columns is None else columns
    content = cells_hash("input", {cell_name(name): _original(data, name) for name in names})
    return hmac.new(key.encode(), content.encode(), hashlib.sha256).hexdigest()


def _original(data: Microdata, name: str) -> tuple[Codes, Texts]:
    """The cells of a column as codes into sorted texts; only different ones are looked at where it was coded as it is.

    Whole numbers, of which a column may have as many as rows, stay in Arrow.
    """
    given = data.given.column(name)
    stored = None if name not in data.domain else data.domain[name].stored
    cells = given if stored is None else pd.Series(stored)
    if stored is None or cells.dtype != given.dtype:
        column = Column.of(given)
    elif not isinstance(cells.dtype, np.dtype) or cells.dtype.kind not in "iu":
        column = Column.coded(data.codes[name], cell_texts(cells))
    else:
        used = np.flatnonzero(np.bincount(data.codes[name], minlength=len(cells)))
        texts = pa.array(cells.to_numpy()[used]).cast(pa.large_string())
        order = text_order(texts)
        rank = np.zeros(len(cells), dtype=np.int32)
        rank[used[order]] = np.arange(len(order), dtype=np.int32)
        return rank[data.codes[name]], texts.take(pa.array(order))
    return column.codes, column.texts
