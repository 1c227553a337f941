"""The regular expressions of the code, and how many steps a backtracking engine takes for the worst texts of each.

Steps are counted by a matcher of our own that tries the same things in the same order as Python's `re`, so that the
answer is the same on every machine: https://docs.python.org/3/library/re.html, and for what makes an expression slow
M. Weideman et al., "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers" (CIAA 2016).
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

# The parser of `re` has no public name.
_compiler, _constants, _parser = (
    importlib.import_module(f"re.{name}") for name in ("_compiler", "_constants", "_parser")
)

CALLS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
"""What of the module `re` takes an expression."""
OF_COLUMNS = {"match", "fullmatch", "contains", "extract", "extractall", "findall", "count"}
"""What of a column's `.str` takes an expression; `replace` and `split` do where they say so."""
ANCHORED = {"match", "fullmatch"}
"""Ways to ask an expression that begin at one place of the text only."""
_RELEVANT_NODES = (ast.Assign, ast.Attribute, ast.Call, ast.ImportFrom)
MOST_STEPS = 200_000
"""Steps after which counting ends: no text here is so long that a linear expression takes as many."""
MOST_PAIRED = 8
"""Kinds of characters up to which every two of them are repeated together."""
LETTERS = "0 5aeEzAZ_-+.,;:|/*\\()[]{}<>=\"'`~!?#$%&@^\t\r\n\x00\x1cé٣漢K\ud800"
"""Characters that expressions may tell apart."""


@dataclass(frozen=True)
class Expression:
    """An expression, where it stands, and how it is asked: "fullmatch", "match", or "search" for all others."""

    place: str
    pattern: str | bytes
    flags: int
    way: str


def expressions(root: Path, packages: tuple[str, ...]) -> tuple[list[Expression], list[str]]:
    """All expressions of some packages, and the places of those whose text cannot be known before they run."""
    found: list[Expression] = []
    unknown: list[str] = []
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): _nodes_of(path.read_bytes())
        for package in packages
        for path in sorted((root / package).rglob("*.py"))
    }
    ways: dict[str, set[str]] = {}
    for name, nodes in modules.items():
        _take_ways(name, nodes, ways)
    for name, nodes in modules.items():
        _of_module(name, nodes, ways, found, unknown)
    return found, unknown


def _nodes_of(text: bytes) -> list[ast.AST]:
    """The parts of a program that say something of expressions, in their order."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, _RELEVANT_NODES)]


def _of_module(
    name: str, nodes: list[ast.AST], ways: dict[str, set[str]], found: list[Expression], unknown: list[str]
) -> None:
    names = {
        id(node.value): f"{name}.{node.targets[0].id}"
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    # One that stands in a list is asked by the name of a loop; which one, is not looked for.
    others = set().union(*(asked for full, asked in ways.items() if full.rpartition(".")[0] == name))
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        method, owner = node.func.attr, node.func.value
        if isinstance(owner, ast.Name) and owner.id == "re" and method in CALLS:
            asked = ways.get(names.get(id(node), ""), others or {"search"}) if method == "compile" else {method}
        elif isinstance(owner, ast.Attribute) and owner.attr == "str" and _is_expression(node, method):
            asked = {method}
        else:
            continue
        place = f"{name}:{node.lineno}"
        try:
            pattern, flags = _values(node, method, importlib.import_module(name))
        except NameError:
            unknown.append(place)
            continue
        found += [
            Expression(place, pattern, flags, way)
            for way in sorted({way if way in ANCHORED else "search" for way in asked})
        ]


def _is_expression(node: ast.Call, method: str) -> bool:
    says = any(
        key.arg == "regex" and isinstance(key.value, ast.Constant) and key.value.value is True for key in node.keywords
    )
    refuses = any(
        key.arg == "regex" and isinstance(key.value, ast.Constant) and key.value.value is False for key in node.keywords
    )
    return bool(node.args) and (says if method in ("replace", "split") else method in OF_COLUMNS and not refuses)


def _take_ways(name: str, nodes: list[ast.AST], ways: dict[str, set[str]]) -> None:
    """How a module asks each name, its own or imported, that has the methods of an expression."""
    full: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            full |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id != "re" and node.attr in CALLS:
            ways.setdefault(full.get(node.value.id, f"{name}.{node.value.id}"), set()).add(node.attr)


def _values(node: ast.Call, method: str, module: Any) -> tuple[str | bytes, int]:
    """The expression and its flags, as the module's own names give them."""

    def value(part: ast.expr) -> Any:
        return eval(compile(ast.Expression(part), "<expression>", "eval"), vars(module))  # The code's own text.

    flags = next((value(key.value) for key in node.keywords if key.arg == "flags"), 0)
    if method in ("compile", "match", "fullmatch", "search", "findall", "finditer"):
        own = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
        place = 1 if method == "compile" else 2
        if own and len(node.args) > place:
            flags = value(node.args[place])
    return value(node.args[0]), int(flags)


class TooManyStepsError(Exception):
    """Counting ended."""


Then = Callable[[int], int | None]
Matcher = Callable[[int, Then], int | None]


class Counter:
    """Matches an expression as Python does, and counts what it tries.

    Parameters
    ----------
    expression : Expression
        What is matched.
    """

    def __init__(self, expression: Expression) -> None:
        pattern = expression.pattern
        self.way = expression.way
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        self.tree = _parser.parse(text, expression.flags | (re.ASCII if isinstance(pattern, bytes) else 0))
        self.flags = self.tree.state.flags
        self.steps = 0
        self.text = ""
        self._known: dict[tuple[str, str], Callable[[str], bool]] = {}
        self._whole = self._sequence(self.tree)

    def count(self, text: str) -> int:
        """Steps for a text, at most `MOST_STEPS`."""
        self.text, self.steps = text, 0
        deepest = sys.getrecursionlimit()
        sys.setrecursionlimit(40_000)
        try:
            if self.way == "fullmatch":
                self._whole(0, lambda place: place if place == len(text) else None)
            elif self.way == "match":
                self._whole(0, lambda place: place)
            else:
                self._search()
        except TooManyStepsError:
            pass
        finally:
            sys.setrecursionlimit(deepest)
        return self.steps

    def _search(self) -> None:
        place = 0
        while place <= len(self.text):
            end = self._whole(place, lambda found: found)
            place = place + 1 if end is None or end == place else end

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooManyStepsError

    def _sequence(self, nodes: Any) -> Matcher:
        matchers = [self._node(node) for node in nodes]
        if not matchers:
            return lambda place, then: then(place)
        if len(matchers) == 1:
            return matchers[0]

        def run(number: int, place: int, then: Then) -> int | None:
            if number == len(matchers) - 1:
                return matchers[number](place, then)
            return matchers[number](place, lambda next_place: run(number + 1, next_place, then))

        return lambda place, then: run(0, place, then)

    def single(self, node: Any) -> Callable[[str], bool] | None:
        """Whether a node takes a character, for nodes that take exactly one."""
        if node[0] not in (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN):
            return None
        key = (repr(node), "")
        if key not in self._known:
            compiled = _compiler.compile(_parser.SubPattern(self.tree.state, [node]), self.flags & ~re.DEBUG)
            known: dict[str, bool] = {}

            def takes(letter: str) -> bool:
                if letter not in known:
                    known[letter] = compiled.fullmatch(letter) is not None
                return known[letter]

            self._known[key] = takes
        return self._known[key]

    def _node(self, node: Any) -> Matcher:
        kind, value = node
        takes = self.single(node)
        if takes is not None:
            return self._letter(takes)
        if kind is _constants.SUBPATTERN:
            return self._sequence(value[-1])
        if kind is _constants.ATOMIC_GROUP:
            return self._atomic(self._sequence(value))
        if kind is _constants.BRANCH:
            ways = [self._sequence(way) for way in value[1]]
            return lambda place, then: self._first(way(place, then) for way in ways)
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            return self._repeat(value[0], value[1], value[2], greedy=kind is _constants.MAX_REPEAT)
        if kind is _constants.POSSESSIVE_REPEAT:
            return self._atomic(self._repeat(value[0], value[1], value[2], greedy=True))
        if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
            return self._look(value[0], value[1], wanted=kind is _constants.ASSERT)
        if kind is _constants.AT:
            compiled = _compiler.compile(_parser.SubPattern(self.tree.state, [node]), self.flags)
            return lambda place, then: then(place) if compiled.match(self.text, place) is not None else None
        raise AssertionError(f"{kind} is not counted by this matcher.")

    @staticmethod
    def _first(results: Iterator[int | None]) -> int | None:
        return next((result for result in results if result is not None), None)

    def _letter(self, takes: Callable[[str], bool]) -> Matcher:
        def run(place: int, then: Then) -> int | None:
            self._step()
            return then(place + 1) if place < len(self.text) and takes(self.text[place]) else None

        return run

    def _atomic(self, inner: Matcher) -> Matcher:
        def run(place: int, then: Then) -> int | None:
            end = inner(place, lambda found: found)
            return None if end is None else then(end)

        return run

    def _look(self, direction: int, nodes: Any, wanted: bool) -> Matcher:
        inner = self._sequence(nodes)
        width = nodes.getwidth()[0] if direction < 0 else 0

        def run(place: int, then: Then) -> int | None:
            begin = place - width
            found = begin >= 0 and inner(begin, lambda end: end) is not None
            return then(place) if found is wanted else None

        return run

    def _repeat(self, least: int, most: Any, nodes: Any, greedy: bool) -> Matcher:
        most = sys.maxsize if most is _constants.MAXREPEAT else int(most)
        takes = self.single(nodes[0]) if len(nodes) == 1 else None
        if takes is not None:
            return self._run_of(least, most, takes, greedy)
        inner = self._sequence(nodes)

        def run(count: int, place: int, then: Then) -> int | None:
            self._step()

            def again() -> int | None:
                if count >= most:
                    return None
                return inner(place, lambda end: run(count + 1, end, then) if end != place or count < least else None)

            if count < least:
                return again()
            results = (again, lambda: then(place)) if greedy else (lambda: then(place), again)
            return self._first(way() for way in results)

        return lambda place, then: run(0, place, then)

    def _run_of(self, least: int, most: int, takes: Callable[[str], bool], greedy: bool) -> Matcher:
        def run(place: int, then: Then) -> int | None:
            end = place
            if greedy:
                while end - place < most and end < len(self.text) and takes(self.text[end]):
                    self._step()
                    end += 1
                for stop in range(end, place + least - 1, -1):
                    self._step()
                    found = then(stop)
                    if found is not None:
                        return found
                return None
            while True:
                self._step()
                if end - place >= least:
                    found = then(end)
                    if found is not None:
                        return found
                if end - place >= most or end >= len(self.text) or not takes(self.text[end]):
                    return None
                end += 1

        return run


class Attack:
    """The texts that an expression takes longest for: something it repeats, many times, and then what it refuses."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    @cached_property
    def letters(self) -> list[str]:
        """One character of each kind that the expression tells apart."""
        kinds = [takes for node in self._nodes(self.counter.tree) if (takes := self.counter.single(node)) is not None]
        own = [chr(node[1]) for node in self._nodes(self.counter.tree) if node[0] is _constants.LITERAL]
        found: dict[tuple[bool, ...], str] = {}
        for letter in [*own, *LETTERS]:
            # Places such as the begin of a line tell apart what no class of characters does.
            kind = (letter == "\n", letter.isalnum(), *(takes(letter) for takes in kinds))
            found.setdefault(kind, letter)
        return list(found.values())

    def _nodes(self, nodes: Any) -> Iterator[Any]:
        for node in nodes:
            yield node
            for part in self._parts(node):
                yield from self._nodes(part)

    @staticmethod
    def _parts(node: Any) -> list[Any]:
        kind, value = node
        if kind is _constants.BRANCH:
            return list(value[1])
        if kind in (_constants.SUBPATTERN, _constants.ASSERT, _constants.ASSERT_NOT):
            return [value[-1]]
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            return [value[2]]
        return [value] if kind is _constants.ATOMIC_GROUP else []

    def _sample(self, nodes: Any, way: int = 0) -> str:
        """A text that the nodes take; `way` chooses among several."""
        return "".join(self._sample_of(node, way) for node in nodes)

    def _sample_of(self, node: Any, way: int) -> str:
        takes = self.counter.single(node)
        if takes is not None:
            fitting = [letter for letter in self.letters if takes(letter)] or [
                letter for letter in map(chr, range(0x250)) if takes(letter)
            ]
            return fitting[way % len(fitting)]
        kind, value = node
        if kind is _constants.BRANCH:
            return self._sample(value[1][way % len(value[1])], way)
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            return self._sample(value[2], way) * max(value[0], way % 2)
        if kind in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
            return self._sample(self._parts(node)[0], way)
        return ""

    def _before(self, nodes: Any, begin: str = "") -> Iterator[tuple[str, Any]]:
        """What leads to each repetition, and what that repeats."""
        for node in nodes:
            kind, value = node
            repeats = kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
            if repeats and value[1] is _constants.MAXREPEAT:
                yield begin, value[2]
            for part in self._parts(node):
                yield from self._before(part, begin)
            begin += self._sample_of(node, 0)

    def texts(self) -> list[tuple[str, str, str]]:
        """Beginnings, what is repeated, and ends."""
        repeated = list(self._before(self.counter.tree))
        begins = list(dict.fromkeys(["", *(begin for begin, _ in repeated)]))
        bodies = [self._sample(body, way) for _, body in repeated for way in range(4)]
        whole = [self._sample(self.counter.tree, way) for way in range(3)]
        starts = [sample[:cut] for sample in whole[:2] for cut in range(1, min(len(sample), 8))]
        pairs = ["".join(pair) for pair in product(self.letters, repeat=2)] if len(self.letters) <= MOST_PAIRED else []
        pumps = list(dict.fromkeys(text for text in [*self.letters, *bodies, *whole, *starts, *pairs] if text))
        ends = ["", self.letters[-1], "\x00\n"]
        return list(product(begins, pumps, ends))


def worst(expression: Expression, length: int = 48) -> tuple[float, str]:
    """By how much the steps grow when the worst text becomes twice as long, and that text; 2 is linear, 4 quadratic."""
    counter = Counter(expression)
    found, text = 0.0, ""
    for begin, pump, end in Attack(counter).texts():
        times = max(length // len(pump), 12)
        long = counter.count(begin + pump * 2 * times + end)
        if long < 6 * length:  # So few are linear.
            continue
        told = f"{begin!r} + {pump!r} * n + {end!r}"
        if long > MOST_STEPS:
            return 99.0, told
        short = counter.count(begin + pump * times + end)
        if long / short > found:
            found, text = long / short, told
    return found, text
