"""A column as integer codes and the domain of its values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import numbers_of
from anoncore.base.texts import is_missing, listing
from anoncore.base.typed_values import check_years, preferred, sorted_values, value_key
from anoncore.kernels.arrays import Codes
from anoncore.kernels.sorting import stable_order
from anoncore.table.domain import Domain, Kind, Stored
from anoncore.table.given_table import GivenTable
from anoncore.table.hierarchy import Hierarchy

LARGEST_NUMBER = 1e150
"""Beyond this size squares and widths are too large for double precision."""
LARGEST_TOLD_APART = 2.0**53
"""Beyond this size a double cannot tell every two whole numbers apart."""


def guess_kind(column: pd.Series[Any], ordered: bool = False) -> Kind:
    """Numbers and dates are numeric, ordered categories (or an explicit order) ordinal, all else nominal."""
    dtype = column.dtype
    if ordered or (isinstance(dtype, pd.CategoricalDtype) and dtype.ordered):
        return Kind.ORDINAL
    return Kind.NUMERIC if _is_number_type(dtype) and not pd.api.types.is_bool_dtype(dtype) else Kind.NOMINAL


def encode(
    column: pd.Series[Any], name: str, kind: Kind | None, order: Sequence[Any] | None, hierarchy: Hierarchy | None
) -> tuple[Codes, Domain]:
    """A column as codes, int32 (n_rows,), with the missing value last, and its domain. Without a `kind` it is guessed.

    The values are in the given order. Without one, numbers and dates follow their size, ordered categories their own
    order, and other values that of the hierarchy, of unordered categories, or of sorting, the first of these that there
    is. Raises DataError for a column that does not fit its kind, order or hierarchy.
    """
    check_years(column, name)
    if pd.api.types.is_float_dtype(column.dtype):
        # 0.0 and -0.0 are one value; which of them came first must not show. The sum of both is 0.0.
        column = column + 0.0
    if kind is None:
        kind = guess_kind(column, ordered=order is not None)
    if kind is Kind.NUMERIC:
        if order is not None:
            raise DataError(f"'{name}' is numeric, so its order is that of the numbers; drop its entry in orders.")
        column = _as_numbers(column, name)
    try:
        raw, uniques = _factorized(column)
    except TypeError as error:
        raise DataError(
            f"'{name}' holds values that cannot be compared ({error}); turn them into text first."
        ) from None
    if kind is Kind.NUMERIC:
        quickly_sorted = _sorted_numbers(uniques)
    else:
        quickly_sorted = _sorted_texts(uniques) if order is None and hierarchy is None else None
    if quickly_sorted is not None:
        by_size, values = quickly_sorted
        # factorize gives missing cells the code -1, which as an index is the last entry: the code of the missing value.
        recode = np.empty(len(values) + 1, dtype=np.int32)
        recode[np.append(by_size, -1)] = np.arange(len(recode))
    else:
        distinct = [_plain(value) for value in uniques]
        values = _ordered(distinct, column, name, kind, order, hierarchy)
        rank = {value_key(value): code for code, value in enumerate(values)}
        recode = np.array([*(rank[value_key(value)] for value in distinct), len(values)], dtype=np.int32)
    codes = recode[raw]
    has_missing = bool((raw == -1).any())
    domain = Domain(name, kind, tuple(values), has_missing, stored=_stored(column, codes, len(values) + has_missing))
    if hierarchy is not None:
        domain = Domain(name, kind, domain.values, has_missing, hierarchy.tree(domain), domain.stored)
    return codes, domain


def encode_given(
    given: GivenTable, name: str, kind: Kind | None, order: Sequence[Any] | None, hierarchy: Hierarchy | None
) -> tuple[Codes, Domain]:
    """A column of a table of any kind as codes and domain, see `encode`."""
    texts = given.different_texts(name)
    if texts is None:
        return encode(given.column(name), name, kind, order, hierarchy)
    different, rows = texts
    codes, domain = encode(different, name, kind, order, hierarchy)
    return codes[rows], domain


def content_words(columns: Sequence[Codes], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """The code columns packed into as few integers per row as possible, int64 (n_words, n_rows).

    Comparing rows by these words gives the same as comparing them by their codes, the first column counting most.
    """
    return np.stack([word for word, _ in _packed(columns, sizes)])


def content_order(columns: Sequence[Codes], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Stable order of rows by the given code columns, the first column counting most."""
    return _order(_packed(columns, sizes))


def content_head(columns: Sequence[Codes], most: int) -> npt.NDArray[np.int64]:
    """The first `most` rows in the order of `content_order`, without sorting the others."""
    rows, missing = np.arange(len(columns[0])), min(most, len(columns[0]))
    chosen = []
    for column in columns:
        if missing == 0:
            break
        codes = column[rows]
        last = np.partition(codes, missing - 1)[missing - 1]
        chosen.append(rows[codes < last])
        rows, missing = rows[codes == last], missing - len(chosen[-1])
    head = np.sort(np.concatenate([*chosen, rows[:missing]]))
    columns = [column[head] for column in columns]
    return head[content_order(columns, [int(column.max(initial=0)) + 1 for column in columns])]


def content_ranks(columns: Sequence[Codes], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """The rank of every row among the different ones, int64 (n_rows,), in the order of `content_order`."""
    if not columns:
        return np.empty(0, dtype=np.int64)
    # Most published tables are sorted: rows that are like the one before need not be sorted once more.
    first = np.flatnonzero(_differs_from_before(columns))
    words = _packed([column[first] for column in columns], sizes)
    order = _order(words)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(_differs_from_before([word[order] for word, _ in words])) - 1
    return np.repeat(ranks, np.diff(first, append=len(columns[0])))


def _differs_from_before(columns: Sequence[npt.NDArray[np.integer]]) -> npt.NDArray[np.bool_]:
    """Which rows differ from the one before; the first one does."""
    differs = np.ones(len(columns[0]), dtype=np.bool_)
    differs[1:] = False
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs


def _order(words: Sequence[tuple[npt.NDArray[np.int64], int]]) -> npt.NDArray[np.int64]:
    """Stable order of rows by their words, the first one counting most."""
    order = _sorted_by(words[:1])
    if len(words) > 1:
        # A word holds so many columns that few rows are alike in the first one; only these are sorted by all of them.
        alike = np.diff(words[0][0][order], prepend=-1, append=-1) == 0
        places = np.flatnonzero(alike[1:] | alike[:-1])
        rows = order[places]
        order[places] = rows[_sorted_by([(word[rows], capacity) for word, capacity in words])]
    return order


def _sorted_by(words: Sequence[tuple[npt.NDArray[np.int64], int]]) -> npt.NDArray[np.int64]:
    order = np.arange(len(words[0][0]))
    for word, capacity in reversed(words):
        order = stable_order(word, (capacity - 1).bit_length(), order)
    return order


def _packed(columns: Sequence[Codes], sizes: Sequence[int]) -> list[tuple[npt.NDArray[np.int64], int]]:
    """The words of `content_words`, each with a number that all its values are below."""
    words: list[tuple[npt.NDArray[np.int64], int]] = []
    for codes, size in zip(columns, sizes, strict=True):
        # A word takes in a further column as long as its values stay well within int64.
        if words and words[-1][1] * size < 2**62:
            word, capacity = words[-1]
            word *= size
            word += codes
            words[-1] = (word, capacity * size)
        else:
            words.append((codes.astype(np.int64), size))
    return words


def _is_number_type(dtype: Any) -> bool:
    if pd.api.types.is_complex_dtype(dtype):
        return False
    return pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def _as_numbers(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    """The column as numbers or dates; text that reads as numbers is turned into them."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return pd.to_datetime(column)
    if not _is_number_type(column.dtype):
        column = _parsed(column, name)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise DataError(f"'{name}' holds an infinite value; replace it by a number or leave the cell empty.")
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > LARGEST_NUMBER:
        raise DataError(f"'{name}' holds a number of size {largest:g}, beyond {LARGEST_NUMBER:g}; rescale the column.")
    return column


def _parsed(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    advice = "tag it nominal or ordinal"
    texts = pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype)
    if not texts and not isinstance(column.dtype, pd.CategoricalDtype):
        raise DataError(
            f"'{name}' is tagged numeric but its type is {column.dtype}; turn it into numbers, or {advice}."
        )
    numbers = numbers_of(column)
    known = column.notna().to_numpy()
    wrong = column[numbers.isna().to_numpy() & known]
    if len(wrong):
        raise DataError(f"'{name}' is tagged numeric but holds {listing(list(wrong.iloc[:3]))}; {advice}.")
    if pd.api.types.is_float_dtype(numbers.dtype) and np.abs(numbers).max() > LARGEST_TOLD_APART:
        # A missing cell makes floats of all numbers, which integers with missing cells are spared.
        whole = numbers_of(column[known])
        if pd.api.types.is_integer_dtype(whole.dtype):
            return whole.astype("UInt64" if whole.dtype.kind == "u" else "Int64").reindex(column.index)
    _require_told_apart(column[known], numbers[known], name)
    return numbers


def _require_told_apart(cells: pd.Series[Any], numbers: pd.Series[Any], name: str) -> None:
    """Raise DataError where different numbers become the same one in double precision."""
    different = pd.DataFrame({"number": numbers.to_numpy(), "cell": cells.astype(str).to_numpy()}).drop_duplicates()
    for number, same in different[different["number"].duplicated(keep=False)].groupby("number")["cell"]:
        # 7, 7.0 and 007 are one number; exact fractions tell it from one that differs in a far digit.
        if len({_as_written(text) for text in same}) > 1:
            raise DataError(
                f"'{name}' is tagged numeric but holds {listing(list(same.iloc[:3]))}, which all become {number!r} in "
                "double precision; round them first, or tag it nominal or ordinal."
            )


def _as_written(text: str) -> Fraction | str:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text


def _ordered(
    distinct: list[Any],
    column: pd.Series[Any],
    name: str,
    kind: Kind,
    order: Sequence[Any] | None,
    hierarchy: Hierarchy | None,
) -> list[Any]:
    if order is not None:
        return _in_given_order(distinct, name, order)
    dtype = column.dtype
    if kind is not Kind.NUMERIC and isinstance(dtype, pd.CategoricalDtype) and (dtype.ordered or hierarchy is None):
        present = {value_key(value) for value in distinct}
        return [value for value in (_plain(item) for item in dtype.categories) if value_key(value) in present]
    if kind is not Kind.NUMERIC and hierarchy is not None:
        try:
            return hierarchy.order(distinct)
        except DataError as error:
            raise DataError(f"'{name}': {error}") from None
    return sorted_values(distinct)


def _in_given_order(distinct: list[Any], name: str, order: Sequence[Any]) -> list[Any]:
    wanted = [value_key(value) for value in order if not is_missing(value)]
    present = {value_key(value): value for value in distinct}
    if len(set(wanted)) < len(wanted):
        raise DataError(f"The order of '{name}' lists a value twice.")
    lacking = sorted_values([present[key] for key in present.keys() - set(wanted)])
    if lacking:
        raise DataError(f"The order of '{name}' lacks {listing(lacking)}; list every value of the column.")
    return [present[key] for key in wanted if key in present]


def _factorized(column: pd.Series[Any]) -> tuple[npt.NDArray[np.int64], Any]:
    """A number per row (-1 where the cell is missing) and the different values, as `value_key` tells them apart.

    Raises TypeError for values that cannot be compared.
    """
    known = column.notna().to_numpy()
    if not known.any():
        return np.full(len(column), -1, dtype=np.int64), pd.Index(column.iloc[:0])
    if column.dtype != object or all(issubclass(kind, str) for kind in set(map(type, column.array[known]))):
        return pd.factorize(column, use_na_sentinel=True)
    # Python and pandas take True, 1 and 1.0 for one value; with their types they are three, of which two are then one.
    forms: dict[tuple[type, str, Any], int] = {}
    raw = np.full(len(column), -1, dtype=np.int64)
    raw[known] = [forms.setdefault(_form(value), len(forms)) for value in column.array[known]]
    values: dict[Any, list[Any]] = {}
    for _, _, value in forms:
        values.setdefault(value_key(value), []).append(value)
    number = {key: place for place, key in enumerate(values)}
    of_form = np.array([number[value_key(value)] for _, _, value in forms], dtype=np.int64)
    raw[known] = of_form[raw[known]]
    return raw, [preferred(same) for same in values.values()]


def _sorted_numbers(uniques: Any) -> tuple[npt.NDArray[np.int64], list[Any]] | None:
    """The order of different numbers or dates by size, and their values in that order.

    None for what is no array of numbers or dates. A large table has hundreds of thousands of them, and comparing the
    keys of so many values in Python takes a second for each column.
    """
    if isinstance(uniques, pd.DatetimeIndex):
        order = np.argsort(uniques.asi8)
        return order, list(uniques[order])
    dtype: Any = getattr(uniques, "dtype", np.dtype(object))
    if not pd.api.types.is_integer_dtype(dtype) and not pd.api.types.is_float_dtype(dtype):
        return None
    # Columns that can hold missing integers have a type of their own around numpy's.
    numbers = uniques.to_numpy(dtype=getattr(dtype, "numpy_dtype", dtype))
    if np.isnan(numbers).any():
        return None
    order = np.argsort(numbers)
    return order, numbers[order].tolist()


def _sorted_texts(uniques: Any) -> tuple[npt.NDArray[np.int64], list[Any]] | None:
    """The order of different texts by their characters, and the texts in that order; None for what are no texts."""
    if not isinstance(getattr(uniques, "dtype", None), pd.StringDtype):
        return None
    texts = uniques.tolist()
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    return order, [texts[place] for place in order]


def _form(value: Any) -> tuple[type, str, Any]:
    """A value with its type; numbers that are equal and written differently, such as 0.0 and -0.0, are two forms."""
    return type(value), repr(value) if isinstance(value, (float, Decimal)) else "", value


def _stored(column: pd.Series[Any], codes: Codes, size: int) -> Stored | None:
    """One cell of the column for each code, with the column's type.

    None for a column of objects: it has no type to keep, and its missing cells may be of several kinds.
    """
    if column.dtype == object:
        return None
    # Any row with the code will do; the last one written stays.
    row = np.empty(size, dtype=np.int64)
    row[codes] = np.arange(len(codes))
    cells = column.array.take(row)
    return cells.remove_unused_categories() if isinstance(cells, pd.Categorical) else cells
