"""What a public function is given, checked against its annotations: a mistake becomes one sentence with a next step."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    IO,
    Annotated,
    Any,
    BinaryIO,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from anoncore.base.errors import ParameterError

T = TypeVar("T", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

NEXT_STEPS = {
    "Algorithm": "Mondrian(requirements=[KAnonymity(k=10)]), for instance, is one",
    "Certificate": "Certificate.load(path) reads one",
    "Domain": "data.domain['age'] is that of an attribute",
    "Fact": "attacks.Fact.parse('row 12 has not flu'), for instance, is one",
    "ForegroundKnowledge": "attacks.foreground_knowledge(release, 'disease') gives one",
    "Fragment": "release.fragments are those of a release",
    "JoinedCertificate": "JoinedCertificate.loads(text) reads one",
    "Hierarchy": "Hierarchy.from_nested({'south': ['Ulm'], 'west': ['Bonn', 'Trier']}), for instance, is one",
    "Microdata": "Microdata(frame, roles={'age': 'quasi-identifier', 'disease': 'sensitive'}) makes it of a table",
    "Path": "pathlib.Path('people.csv'), for instance, is one",
    "Partition": "release.partition is that of a release",
    "Point": "anoncore.search.sweep makes them",
    "Policy": "Policy.load('policy.toml') reads one",
    "ReleaseMethod": "Mondrian(requirements=[KAnonymity(k=10)]), for instance, is one",
    "Release": "Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data) makes one of Microdata",
    "Requirement": "KAnonymity(k=10), for instance, is one",
    "Search": "anoncore.search.search makes one",
    "Target": "anoncore.search.Target('k', 10), for instance, is one",
    "Generator": "numpy.random.default_rng() makes one",
    "a callable": "give a function or leave it out",
    "a file": "open the file with mode 'rb' or 'wb', or give its path",
    "a name": "give it as a text in quotes",
    "a number": "give one such as 0.5",
    "a truth": "give True or False",
    "a whole number": "give one such as 5",
    "an array": "numpy.asarray makes one of a list",
    "bytes": "Path(path).read_bytes() reads those of a file",
    "bytes by name": "give a dictionary such as {'people.csv': Path('people.csv').read_bytes()}",
    "entries by name": "give a dictionary such as {'age': …}",
}
"""What to do next, by the kind of thing that is missing."""
PLURALS = {"a name": "names", "a number": "numbers", "a whole number": "whole numbers", "a truth": "truths"}
LISTS = {"a name": "['age', 'sex']", "a number": "[0.5, 1]", "a whole number": "[2, 5]"}
UNCOUNTED = ("Microdata", "bytes", "bytes by name", "entries by name", "None")


class Wanted(NamedTuple):
    """What an annotation allows: a test of a value, what such values are called, what it allows of each entry, and the
    names of which it is one.
    """

    accepts: Callable[[Any], bool]
    words: tuple[str, ...]
    entry: Wanted | None = None
    choices: tuple[str, ...] = ()


def checked(function: T) -> T:
    """A function that refuses what does not fit its annotations, with a ParameterError that says what to do.

    Annotations are read at the first call. What cannot be read or tested, such as a type variable, allows everything.
    """

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        parameters = _wanted_by_name(function)
        for (name, wanted), value in zip(parameters, given, strict=False):
            if wanted is not None and not wanted.accepts(value):
                raise ParameterError(_sentence(function.__qualname__, name, wanted, value))
        if named:
            by_name = dict(parameters)
            for name, value in named.items():
                wanted = by_name.get(name)
                if wanted is not None and not wanted.accepts(value):
                    raise ParameterError(_sentence(function.__qualname__, name, wanted, value))
        return function(*given, **named)

    return call  # type: ignore[return-value]


def checked_methods(owner: C, left_out: tuple[str, ...] = ()) -> C:
    """A class whose public methods and constructor check what they are given, see `checked`; but for those left out."""
    for name, member in list(vars(owner).items()):
        if (name.startswith("_") and name != "__init__") or name in left_out:
            continue
        if inspect.isfunction(member):
            setattr(owner, name, checked(member))
        elif isinstance(member, classmethod | staticmethod):
            setattr(owner, name, type(member)(checked(member.__func__)))
    return owner


@cache
def _wanted_by_name(function: Callable[..., Any]) -> tuple[tuple[str, Wanted | None], ...]:
    """What each parameter allows, by its name, as far as parameters have names of their own."""
    try:
        hints = get_type_hints(function, localns=_Names(function.__globals__), include_extras=True)
    except TypeError:  # a type that only type checkers can read, such as a Series of texts
        hints = {}
    wanted: list[tuple[str, Wanted | None]] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        wanted.append((name, wanted_of(hints[name]) if name in hints else None))
    return tuple(wanted)


class _Names(dict[str, Any]):
    """The names of a module; one that only type checkers see allows everything."""

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):  # what debuggers ask of a frame is no annotation
            raise KeyError(name)
        return getattr(builtins, name, Any)


def wanted_of(hint: Any) -> Wanted | None:
    """What a type allows; None where it allows everything or cannot be tested."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return wanted_of(inner[0])
    if origin in (Union, UnionType):
        return _any_of([wanted_of(one) for one in inner])
    if origin is Literal:
        return Wanted(lambda value: isinstance(value, str) and value in inner, ("a name",), choices=inner)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is type or hint is type:
        return Wanted(lambda value: isinstance(value, type), ("a class",))
    bare = origin or hint
    if not isinstance(bare, type):
        return None
    if bare.__module__ == "numpy" and bare.__name__ == "ndarray":
        return Wanted(lambda value: isinstance(value, bare), ("an array",))
    if getattr(bare, "_is_protocol", False):
        return None
    if issubclass(bare, Mapping):
        return _entries(*inner)
    if bare.__name__ == "Callable":
        return Wanted(callable, ("a callable",))
    if bare in (Sequence, Collection, Iterable, list, tuple, set, frozenset):
        return _several(inner[0] if inner else Any, with_iterators=bare is Iterable)
    return Wanted(lambda value: isinstance(value, bare), (bare.__name__,))


def _entries(_key: Any = Any, hint: Any = Any) -> Wanted:
    """A mapping; of its entries only bytes are tested, because constructors say more of the others."""
    if hint is not bytes:
        return Wanted(lambda value: isinstance(value, Mapping), ("entries by name",))
    one = _PLAIN[bytes]

    def accepts(value: Any) -> bool:
        if not isinstance(value, Mapping) or one is None:
            return False
        return all(isinstance(name, str) for name in value) and all(map(one.accepts, value.values()))

    return Wanted(accepts, ("bytes by name",))


def _several(hint: Any, with_iterators: bool) -> Wanted:
    one = wanted_of(hint)
    words = "values" if one is None else " or ".join(PLURALS.get(word, word) for word in one.words)

    def accepts(values: Any) -> bool:
        if hasattr(values, "tolist") and len(getattr(values, "shape", ())) > 0:
            if one is None:
                return True
            return all(map(one.accepts, (values[:1] if _has_one_kind(values) else values).tolist()))
        if isinstance(values, Iterator):
            return with_iterators
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Collection):
            return False
        return one is None or all(map(one.accepts, values))

    return Wanted(accepts, (f"a list of {words}",), one)


def _has_one_kind(array: Any) -> bool:
    """Whether one entry stands for all: in a list of numbers or truths whose type is NumPy's, which lacks nothing."""
    kind = array.dtype
    return len(array.shape) == 1 and getattr(kind, "isbuiltin", 0) == 1 and kind.kind in "biuf"


def _any_of(allowed: list[Wanted | None]) -> Wanted | None:
    tests = [one for one in allowed if one is not None]
    if len(tests) < len(allowed):
        return None
    words = tuple(dict.fromkeys(word for one in tests for word in one.words if word != "None"))
    entry = next((one.entry for one in tests if one.entry is not None), None)
    choices = tuple(choice for one in tests for choice in one.choices)
    return Wanted(lambda value: any(one.accepts(value) for one in tests), words, entry, choices)


def _is_whole(value: Any) -> bool:
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def _is_number(value: Any) -> bool:
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))


def _is_file(value: Any) -> bool:
    return hasattr(value, "read") or hasattr(value, "write")


_PLAIN: dict[Any, Wanted | None] = {
    Any: None,
    object: None,
    None: Wanted(lambda value: value is None, ("None",)),
    NoneType: Wanted(lambda value: value is None, ("None",)),
    bool: Wanted(lambda value: isinstance(value, bool) or type(value).__name__ == "bool", ("a truth",)),
    int: Wanted(_is_whole, ("a whole number",)),
    float: Wanted(_is_number, ("a number",)),
    str: Wanted(lambda value: isinstance(value, str), ("a name",)),
    bytes: Wanted(lambda value: isinstance(value, bytes | bytearray), ("bytes",)),
    BinaryIO: Wanted(_is_file, ("a file",)),
    IO[bytes]: Wanted(_is_file, ("a file",)),
}


def _sentence(function: str, name: str, wanted: Wanted, value: Any) -> str:
    called = function.removesuffix(".__init__").rpartition(".")[2]
    what = " or ".join(map(_called, wanted.words))
    wrong = _wrong_entry(wanted, value)
    test, single = (wanted, value) if wrong is None else (wanted.entry or wanted, *wrong)
    if test.choices and isinstance(single, str):
        # The command line starts without pandas, with which texts of values are written.
        from anoncore.base.texts import did_you_mean, listing, quoted

        meant = did_you_mean(single, test.choices)
        return f"{name} is {quoted(single)}; use one of {listing(test.choices, 40)}.{meant}"
    if wrong is not None:
        (entry,) = wrong
        return f"{called} needs {what} as {name}, without {_given(entry)}: {_next_step(wanted.entry or wanted, entry)}."
    return f"{called} needs {what} as {name}, not {_given(value)}: {_next_step(wanted, value)}."


def _wrong_entry(wanted: Wanted, value: Any) -> tuple[Any] | None:
    """The first entry of a list that may not be in it, where a list was wanted and given."""
    if wanted.entry is None or isinstance(value, str | bytes | Mapping) or not isinstance(value, Collection):
        return None
    return next(((entry,) for entry in value if not wanted.entry.accepts(entry)), None)


def _called(word: str) -> str:
    if word in UNCOUNTED or not word[0].isupper():
        return word
    return f"{'an' if word[0] in 'AEIO' else 'a'} {word}"


def _given(value: Any) -> str:
    """What was given, without the values of a table."""
    if value is None or isinstance(value, bool | int | float | str):
        # The command line starts without pandas, with which texts of values are written.
        from anoncore.base.texts import quoted

        return quoted(value)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return name if name in UNCOUNTED else f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def _next_step(wanted: Wanted, value: Any) -> str:
    first = wanted.words[0]
    if isinstance(value, type) and value.__name__ not in ("type", "object"):
        return f"call the class: {value.__name__}(…)"
    if wanted.entry is not None:
        one = wanted.entry.words[0]
        if one in LISTS:
            return f"give a list such as {LISTS[one]}"
        return "put it into a list" if wanted.entry.accepts(value) else f"give a list; {NEXT_STEPS.get(one, one)}"
    return NEXT_STEPS.get(first, f"give {_called(first)}")
