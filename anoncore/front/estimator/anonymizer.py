"""An estimator for scikit-learn that learns a recoding from one table and applies it to others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from anoncore.algorithms import Algorithm, Mondrian
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.texts import listing, quoted
from anoncore.front.estimator.learned_recoding import LearnedRecoding, Outside
from anoncore.release.published_numbers import Numbers
from anoncore.table.given_table import Cells, given_table, is_table
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Kinds, Microdata, Role, Roles

FEWEST_ROWS = 2
"""One row alone is hidden among nobody."""


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn a recoding of known values with `fit`, and apply it to any rows with `transform`.

    `fit` makes a release of the table, whose classes `transform` then looks up: rows with the same quasi-identifiers
    get the same cells, those that were fitted and others. A row that no class holds is refused with the reason, because
    no published cells would be true of it; so are rows whose sensitive values would break a promise beside the fitted
    ones. Rows keep their order and number, as pipelines need it. To publish the fitted table take `release_.tables()`,
    which tells no order.

    A fitted estimator holds the table that it was fitted to: keep it, and its pickles, where the table may be.

    Parameters
    ----------
    algorithm : Algorithm, optional
        A method that generalizes known values, such as Mondrian, LocalRecoding, OptimalRecoding or Incognito; by
        default `Mondrian()`.
    roles : mapping of str to str, optional
        Role of each column, as `Microdata` takes it: columns without a role are left out, insensitive ones are passed
        through. By default every column is a quasi-identifier. The columns of an array are called x0, x1 and so on.
    kinds : mapping of str to str, optional
        `"numeric"`, `"ordinal"` or `"nominal"` per column; guessed from the values where it is left out.
    orders : mapping of str to sequence, optional
        The values of a column in their order.
    hierarchies : mapping of str to Hierarchy, optional
        What a column may be generalized to.
    sensitive_values : mapping of str to collection, optional
        The values of a sensitive column that need protection; by default every value does.
    unit : str, optional
        The column that says whose row it is, where one person may have several rows.
    numbers : {"midpoints", "bounds", "text"}
        How ranges of numbers come out, see `Release.tables`; midpoints by default, which a model can take as they are.
    outside : {"refuse", "suppress", "nearest"}
        What becomes of rows that no class holds. `"refuse"` raises ReleaseError. `"suppress"` gives them cells that
        allow every value: missing numbers, and `*` for texts. `"nearest"` gives them the cells of the class that holds
        most of their values, which are not true of them: only for predictions that nobody publishes.
    protect_target : bool
        Whether `y` is the sensitive attribute, of which the requirements speak. It is never among the columns that come
        out.

    Attributes
    ----------
    release_ : Release
        The release of the fitted table, in which rows with the same quasi-identifiers share a class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Names of the columns, where the fitted table had names.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Anonymizer
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 24, 44, 46], "sex": ["f", "f", "m", "f"]})
    >>> anonymizer = Anonymizer(Mondrian(requirements=[KAnonymity(k=2)]))
    >>> anonymizer.fit_transform(people)
        age     sex
    0  22.5       f
    1  22.5       f
    2  45.0  {f, m}
    3  45.0  {f, m}
    >>> anonymizer.transform(pd.DataFrame({"age": [45], "sex": ["m"]}))
        age     sex
    0  45.0  {f, m}
    """

    def __init__(
        self,
        algorithm: Algorithm | None = None,
        *,
        roles: Roles | None = None,
        kinds: Kinds | None = None,
        orders: Mapping[str, Sequence[Any]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        sensitive_values: Mapping[str, Collection[Any]] | None = None,
        unit: str | None = None,
        numbers: Numbers = "midpoints",
        outside: Outside = "refuse",
        protect_target: bool = False,
    ) -> None:
        # What an estimator is given is checked when it is fitted: scikit-learn sets parameters in other ways too.
        self.algorithm = algorithm
        self.roles = roles
        self.kinds = kinds
        self.orders = orders
        self.hierarchies = hierarchies
        self.sensitive_values = sensitive_values
        self.unit = unit
        self.numbers = numbers
        self.outside = outside
        self.protect_target = protect_target

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool
            Whether the fields of the algorithm and the levels of its requirements are among them, as `algorithm__split`
            and `algorithm__k`.

        Returns
        -------
        dict of str to object
            The value of each parameter.
        """
        found: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.algorithm, Algorithm):
            found |= {f"algorithm__{name}": value for name, value in _levels_and_fields(self.algorithm).items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the algorithm with `algorithm__` before their name.

        Parameters
        ----------
        **params
            The new values. `algorithm__k=5` sets the field k of the algorithm, or else the level k of its requirements.

        Returns
        -------
        Anonymizer
            This estimator.

        Raises
        ------
        ParameterError
            Where the algorithm has no such field and none of its requirements such a level, or no such value.
        """
        of_algorithm = {name: params.pop(name) for name in [*params] if name.startswith("algorithm__")}
        super().set_params(**params)
        for name, value in of_algorithm.items():
            self.algorithm = _with(self._checked_algorithm(), name.removeprefix("algorithm__"), value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803  # scikit-learn's name
        """Make a release of the table and learn its recoding.

        Parameters
        ----------
        X : DataFrame, LazyFrame, Arrow table, DuckDB relation or array, shape (n_rows, n_columns)
            The table.
        y : array, shape (n_rows,), optional
            The target. It plays no part unless `protect_target` is set.

        Returns
        -------
        Anonymizer
            The fitted estimator.

        Raises
        ------
        ParameterError
            For a parameter that does not fit, and a method that does not generalize.
        DataError
            For a table that cannot be read or tagged.
        InfeasibleError
            Where the method finds no release.
        """
        algorithm = self._checked_algorithm()
        frame = self._frame(X, reset=True)
        columns = list(given_table(frame).columns)
        roles = dict.fromkeys(columns, Role.QUASI_IDENTIFIER) if self.roles is None else dict(self.roles)
        if self.protect_target:
            frame, target = self._with_target(frame, columns, y)
            roles[target] = Role.SENSITIVE
        elif self.unit is not None and self.roles is None:
            roles[self.unit] = Role.IDENTIFIER
        data = Microdata(
            frame,
            roles=roles,
            kinds=self.kinds,
            orders=self.orders,
            hierarchies=self.hierarchies,
            sensitive_values=self.sensitive_values,
            unit=self.unit,
        )
        self._recoding = LearnedRecoding(algorithm, data)
        self._columns = tuple(columns)
        self.release_ = self._recoding.release
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Recode rows as the fitted table was recoded.

        Parameters
        ----------
        X : DataFrame, LazyFrame, Arrow table, DuckDB relation or array, shape (n_rows, n_columns)
            Rows with the fitted columns.

        Returns
        -------
        table of the kind of X, or array of shape (n_rows, n_columns_out)
            The rows in their order. Quasi-identifiers are recoded, identifiers and columns without a role are left out,
            and all other columns are as they were.

        Raises
        ------
        ReleaseError
            For rows that no class holds, unless `outside` says otherwise, and for rows whose sensitive values would
            break a promise beside the fitted ones.
        DataError
            For a table with other columns, or with values of another type.
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        given = given_table(frame)
        fitted = self.release_.data
        data = fitted.with_same_tags(given)
        classes = self._recoding.classes(data, self.outside)
        if all(name in self._columns for name in fitted.sensitive):
            self._recoding.require_kept(data, classes, self._checked_algorithm())
        cells: dict[str, pd.Series[Any]] = {}
        kept = [name for name in self._columns if fitted.roles.get(name) in (Role.SENSITIVE, Role.INSENSITIVE)]
        passed = given.frame_of(kept).reset_index(drop=True)
        for name in self._columns:
            if fitted.roles.get(name) is Role.QUASI_IDENTIFIER:
                cells.update(self._recoding.cells(classes, name, self.numbers))
            elif name in kept:
                cells[name] = passed[name]
        table = pd.DataFrame(cells)
        if not is_table(X):
            return _array(table)
        if isinstance(X, pd.DataFrame):
            table.index = X.index
            return table
        # scikit-learn makes the container that was asked for of arrays and of what pandas or Polars can hold.
        return (
            table
            if self._container != "default"
            else given.same_kind(((name, Cells(column)) for name, column in cells.items()), kept)
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : sequence of str, optional
            The fitted columns; there is no need to name them.

        Returns
        -------
        ndarray of str objects, shape (n_columns_out,)
            The names: those of the fitted columns that have a role and name nobody, or those of bounds in the place of
            a range.

        Raises
        ------
        ParameterError
            Where other columns are named than were fitted.
        """
        check_is_fitted(self)
        if input_features is not None and list(map(str, input_features)) != list(self._columns):
            raise ParameterError(
                f"input_features is {listing(list(input_features))}; fitted were {listing(self._columns)}."
            )
        shown = replace(self.release_, numbers=self.numbers)
        names: list[str] = []
        for name in self._columns:
            bounds = shown.number_columns.get(name)
            if bounds is not None:
                names += bounds.names
            elif name in shown.attributes:
                names.append(name)
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = bool(self.protect_target)
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _container(self) -> str:
        """The kind of table that `set_output` or scikit-learn's configuration asks for."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        return str(asked or get_config()["transform_output"])

    def _checked_algorithm(self) -> Algorithm:
        """The method, with the other parameters checked; raises ParameterError for one that does not fit."""
        for name, choices in (("numbers", get_args(Numbers)), ("outside", get_args(Outside))):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise ParameterError(f"{name} is {quoted(value)}; use one of {listing(choices)}.")
        algorithm = Mondrian() if self.algorithm is None else self.algorithm
        if not isinstance(algorithm, Algorithm):
            raise ParameterError(
                f"algorithm is {quoted(algorithm)}; give a method such as Mondrian(requirements=[KAnonymity(k=10)])."
            )
        return algorithm

    def _frame(self, X: Any, reset: bool) -> Any:  # noqa: N803
        """The rows as a table with names, checked as scikit-learn checks what an estimator is given."""
        if is_table(X):
            given = given_table(X)
            # A table that is not computed yet has names and rows once it is.
            checked = X if hasattr(X, "shape") else given.frame
            validate_data(self, checked, reset=reset, skip_check_array=True)
            if reset and given.n_rows < FEWEST_ROWS:
                raise DataError(f"The table has 1 sample, and a row is hidden among others only: give {FEWEST_ROWS}.")
            return given
        options = {"dtype": None, "ensure_all_finite": "allow-nan", "ensure_min_samples": FEWEST_ROWS if reset else 1}
        array = validate_data(self, X, reset=reset, **options)
        columns = pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])
        # A column of an array of objects gets the type of its values.
        return columns.infer_objects()

    def _with_target(self, frame: Any, columns: Sequence[str], y: Any) -> tuple[pd.DataFrame, str]:
        """The table with the target as a column of its own, and its name."""
        if y is None:
            raise ParameterError(
                "Anonymizer requires y to be passed, but the target y is None: protect_target says that it is the "
                "sensitive attribute."
            )
        values = pd.Series(np.asarray(y).ravel()) if not isinstance(y, pd.Series) else y.reset_index(drop=True)
        table = given_table(frame).frame_of(columns).reset_index(drop=True)
        if len(values) != len(table):
            raise DataError(f"y has {len(values):,} values and the table {len(table):,} rows; give one for each row.")
        name = "target"
        while name in columns:
            name += "_"
        return table.assign(**{name: values}), name


def _levels_and_fields(algorithm: Algorithm) -> dict[str, Any]:
    """The levels of the requirements of a method by name, and its fields, which go before levels of their name."""
    requirements = getattr(algorithm, "requirements", ())
    levels = {name: getattr(one, name) for one in requirements for name in type(one).model_fields}
    return levels | {name: getattr(algorithm, name) for name in type(algorithm).model_fields}


def _with(algorithm: Algorithm, name: str, value: Any) -> Algorithm:
    """The method with another field, or with another level of every requirement that has it."""
    if name in type(algorithm).model_fields:
        return algorithm.replace(**{name: value})
    known = _levels_and_fields(algorithm)
    if name not in known:
        raise ParameterError(
            f"{algorithm.title} has no field {quoted(name)}, and none of its requirements has such a level; there is "
            f"{listing([*known])}."
        )
    requirements = getattr(algorithm, "requirements", ())
    changed = [one.replace(**{name: value}) if name in type(one).model_fields else one for one in requirements]
    return algorithm.replace(requirements=changed)


def _array(table: pd.DataFrame) -> npt.NDArray[Any]:
    """The table as an array: of floats where all columns are numbers, else of objects."""
    numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes)
    array: npt.NDArray[Any] = table.to_numpy(dtype=np.float64 if numeric else object, na_value=np.nan)
    return array
