"""What the board knows of each release, and what it says of that in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from types import MappingProxyType
from typing import Any

from anoncore.attacks.foreground.attack import TOO_SMALL
from anoncore.base.texts import share_text, shown_difference
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.measures.answer import FOREGROUND, Answer, and_list
from anoncore.measures.promise_marks import BUCKET, HOLDING, Mark, distance_text, upwards
from anoncore.measures.verdict import GIVEN_AWAY, NOT_ASKED
from anoncore.utility.two_way import TWO_WAY_ERROR
from dashboard.board.by_policy import ByPolicy
from dashboard.board.facts import DRAWS, POLICY, STRONGEST, Facts, Judged, Slow
from dashboard.markdown import few
from dashboard.session.wishes import MOST_PREDICTED

MOST_NAMED = 3
LOPSIDED = 1.5
"""How many times farther to one side an interval may reach and still be told as a number with a margin."""
MEANINGS: Mapping[str, str] = {
    FOREGROUND: "learns from all groups how frequent each secret is among those who are alike, and weighs with it who "
    "of a group has which",
    "deFinetti's attack": "learns a model from all groups that tells secrets by what is known, and swaps the secrets "
    "of a group to where the model finds them likelier",
    "single groups": "takes the secrets of somebody's own group for equally likely",
    "knowing the method": "also counts what the method would have published otherwise",
    "refused groups": "also counts the finer groups that the method must have refused",
}
"""What an attack on secrets does, by its title."""
ROWS: Mapping[str, tuple[str, str, str]] = {
    "promise": ("Asked", "and what each release reaches", "What you ask for, and what each release reaches of it."),
    "hides": (
        "Hides among",
        "{people} by size of group; dashed: your k",
        "Bars: {people} by the size of their group; dashed: your k. Larger groups are safer.",
    ),
    "distance": (
        "Distance",
        "of each group's secrets from those of the table: 0 alike, 1 farthest; dashed: your t",
        "How far the secrets of a group are from those of the whole table (earth mover's distance): 0 is alike, 1 as "
        "far as can be; dashed: your t. Less is safer.",
    ),
    "given": (
        "Given away",
        "{attacked} whose true secret a reader comes to believe with more than 1/{r}, from all groups "
        "together{alone}; line: chance, the same attack on shuffled secrets",
        "{Attacked} whose true secret a reader comes to believe with more than 1/{r}, who learns from all groups "
        "together; l looks at one group alone. Bar: what lies above chance, the same attack on shuffled secrets, which "
        "every release has of its own. Less is safer.",
    ),
    "lost": (
        "Lost",
        "rows that stand in the wrong place when the table is counted by two columns, on average; less is better",
        "Share of the rows that are in the wrong place in counts by two columns, such as age and job, on average over "
        "all pairs of columns (two-way error). Less is better: of releases that keep all that is asked, the one that "
        "loses least is to be published.",
    ),
    "predictable": (
        "Still useful",
        "for one use only, predicting {target} by a model, so it may rank otherwise than Lost; more is better",
        "Score (F-measure) of a model that learns from the release and predicts {target}; lines: guessing, original "
        "table. More is better. It is about one use and Lost about the whole table, so they may rank otherwise.",
    ),
}
"""The questions of the board in their order, with what they mean, shortly and at length: what protects, what an
adversary gets, what it costs. `{people}` is what the rows of the table may be called, and `{alone}` says what l does
not bound, where an l is asked for.
"""
NOTHING_PREDICTED = f"Nothing can be predicted: no column that others know has 2 to {MOST_PREDICTED} values."
CHOOSE_TARGET = " Choose another attribute under 'Adversary and rows'."
OF_ALL_ROWS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "hides": ("k", "{:,.0f} or more rows".format),
    "distance": ("t", upwards),
    "lost": (TWO_WAY_ERROR.name, share_text),
}
"""What is measured of all rows of a table for these questions of the board: the name of the criterion, and how it is
said. Such runs count rows and not people.
"""
NO_GROUPS = "It is asked of groups of people, and the rows of this table are nobody's."
DRAWN = "other random draws may differ"
ABOVE = "; more than the original table, as coarser values keep a tree from learning noise"
PAGES = MappingProxyType(
    {
        "promise": "privacy",
        "hides": "groups",
        "distance": "closeness",
        "given": "attack",
        "lost": "utility",
        "predictable": "utility",
    }
)
"""The page behind each question, by its name in addresses."""
Cell = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """Everything that the board knows of one column.

    `marks` are those of the promises, `judged` the verdict, `quick` the facts that are there at once, `slow` what takes
    longer, by the name of its row. `status` is "ready", "pending" or "failed"; `problem` says why. `is_opened`: it was
    made elsewhere and only read. `doing` is what its method is at, where that takes long. `of_all` is what was measured
    of the release of all rows, where the table is a sample of them. `name` is what sentences call it, where that is not
    its title, which another column may have as well.
    """

    id: str
    title: str
    color: int
    own: str
    status: str
    problem: str = ""
    marks: tuple[Mark, ...] = ()
    quick: Facts | None = None
    slow: Mapping[str, Slow] | None = None
    is_opened: bool = False
    doing: str = ""
    judged: Judged | None = None
    of_all: OfAllRows | None = None
    name: str = ""

    @property
    def named(self) -> str:
        """What sentences call it."""
        return self.name or self.title

    @property
    def keeps(self) -> bool:
        """Whether all that is asked is seen to hold, whatever of the release others may know."""
        return keeps(self.marks, self.judged)

    def slow_of(self, name: str) -> Slow:
        """What is known of a slow number."""
        return (self.slow or {}).get(name, Slow())


@dataclass(frozen=True)
class OfAllRows:
    """What was measured of a release of all rows, by the names of the criteria."""

    n_rows: int
    numbers: Mapping[str, float]

    def text(self, question: str) -> str:
        """What a cell below this question of the board says of it; empty where nothing was measured."""
        name, text = OF_ALL_ROWS[question]
        return f"all {self.n_rows:,} rows: {text(self.numbers[name])}" if name in self.numbers else ""


@dataclass(frozen=True)
class Asked:
    """What of the wishes the table draws: the levels, the adversary's limit, the attributes, the folded rows, and
    the criteria that have rows besides (`numbers`).

    `people` is what the rows of the table may be called: "people", or "rows" while nobody said whose they are. `policy`
    is what the rules are called by which releases are judged; empty without any. `attacked` is what attacks on all
    groups give shares of: rows where a person has several.
    """

    levels: Mapping[str, float]
    r: int
    secret: str | None
    target: str | None
    hidden: tuple[str, ...] = ()
    people: str = "people"
    numbers: tuple[str, ...] = ()
    policy: str = ""
    attacked: str = "people"

    @property
    def person(self) -> str:
        """The word for one of them."""
        return "person" if self.people == "people" else "row"


def by_policy(column: Shown, policy: str) -> ByPolicy | None:
    """What the policy of that name says of a column; None without one, and while there is no release."""
    if not policy or column.status != "ready":
        return None
    slow = column.slow_of(POLICY)
    return ByPolicy.of(policy, slow.facts, slow.problem)


def badge(column: Shown, best: Answer, asked: Asked) -> tuple[str, str]:
    """One line on the whole column; green only where all that is asked holds, and nothing can speak against it."""
    if column.status == "failed":
        return "No release", "bad"
    if column.status == "pending":
        return "Being read …" if column.is_opened else "Being made …", "plain"
    words, tone = first_line(column.marks, column.judged)
    found = taught(column)
    if tone == "good" and found is None and asked.people != "people":
        return f"{words}, counted by rows only", "plain"
    if tone == "good" and found is None and is_still_attacked(column, asked):
        return words, "plain"
    if found is None or tone != "good":
        return f"{words}, loses least" if best.loses_least and best.column == column.id else words, tone
    are, tone = ("are", "warn") if found.is_sure else ("may be", "plain")
    return f"{words}, but {found.share} of the {asked.attacked} {are} given away by {found.how}", tone


def keeps(marks: Sequence[Mark], judged: Judged | None) -> bool:
    """Whether all that is asked is seen to hold, and no published column breaks it."""
    return all(mark.state in HOLDING for mark in marks) and (judged is None or not judged.breaking)


def first_line(marks: Sequence[Mark], judged: Judged | None) -> tuple[str, str]:
    """The verdict on a release in a few words, and their tone: green only where all is good.

    What holds is the same to a reader whether the method promises it or it was counted: the row of the promise tells.
    """
    missed = [mark.name for mark in marks if mark.state == "missed"]
    unknown = [mark.name for mark in marks if mark.state == "unknown"]
    if missed:
        words, tone = f"Misses {and_list(missed)}", "bad"
    elif unknown:
        words, tone = f"Cannot be told: {and_list(unknown)}", "plain"
    elif not marks:
        words, tone = "Nothing was asked", "plain"
    else:
        words, tone = "Keeps all that is asked", "good"
    if judged is None:
        return words, tone
    if judged.breaking:
        return f"{words}{' over what is known' if tone == 'good' else ''}; {judged.breaking}", "bad"
    if judged.not_asked and tone != "bad":
        return f"{words}; {NOT_ASKED}: {', '.join(judged.not_asked)}", "warn"
    return words, tone


def attacks_on(columns: Sequence[Shown]) -> tuple[str, ...]:
    """What the attacks are called that were made on any of the columns."""
    made = [(column.slow_of(STRONGEST).facts or {}).get("attacks", ()) for column in columns]
    return tuple(dict.fromkeys(title for titles in made for title in titles))


def cell_of(name: str, column: Shown, asked: Asked, attacks: Sequence[str] = ()) -> Cell:
    """One cell: what it says and what it draws.

    `attacks` are those on any of the columns; a cell says which of them were not made on its own.
    """
    if column.status == "failed":
        return {"state": "failed", "why": column.problem if name == "promise" else ""}
    if column.status == "pending" or column.quick is None:
        waiting = "being read …" if column.is_opened else f"{column.doing or 'being made'} …"
        return {"state": "pending", "why": waiting if name == "promise" else " "}
    if name == "promise":
        return _promise_cell(column, column.quick, asked)
    if name == "hides":
        return _with_all_rows(name, column, _sizes_cell(column.quick, asked))
    if name == "distance":
        return _with_all_rows(name, column, _distance_cell(column.quick["distance"], asked))
    if name == "lost":
        return _with_all_rows(name, column, _lost_cell(column.quick["lost"]))
    slow = column.slow_of(name)
    if name == "predictable" and asked.target is None:
        return {"state": "failed", "why": NOTHING_PREDICTED + (CHOOSE_TARGET if asked.secret is not None else "")}
    cell = _given_cell(column, attacks) if name == "given" else _predicted_cell(slow)
    if not column.quick["is_drawn"] or slow.exact is None or "value" not in cell or "by" in cell:
        return cell
    draws = _of_draws(name, column, cell["value"])
    return {**cell, **{told: _joined(cell[told], draws) for told in ("sub", "full") if told in cell}}


def _with_all_rows(name: str, column: Shown, cell: Cell) -> Cell:
    """A cell about a sample that also says what was measured of the release of all rows."""
    text = "" if column.of_all is None else column.of_all.text(name)
    return {**cell, **{part: _joined(text, cell[part]) for part in ("sub", "full", "alt") if text and part in cell}}


def _joined(*told: str) -> str:
    """Parts of what is said under a number, without those that are empty."""
    return "; ".join(filter(None, told))


def _of_draws(name: str, column: Shown, value: float) -> str:
    """Between which numbers the draws of a method that draws at random lie, as far as others were made."""
    between = (column.slow_of(DRAWS).facts or {}).get(name)
    if between is None:
        return DRAWN
    low, high = min(value, between[0]), max(value, between[1])
    text = share_text if name == "given" else "{:.2f}".format
    between = text(low) if text(low) == text(high) else f"{text(low).removesuffix('%')} to {text(high)}"
    return f"drawn at random: five releases give ≈ {between}"


def _promise_cell(column: Shown, quick: Facts, asked: Asked) -> Cell:
    told = [
        {"symbol": "promised:", "state": "promised", "words": one["words"], "sentence": one["sentence"]}
        for one in quick.get("promised", ())
    ]
    told += [
        {"symbol": mark.name, "state": mark.state, "words": _words(mark, asked), "sentence": mark.sentence}
        for mark in column.marks
    ]
    cell = {"state": "exact", "promises": told, "text": "" if told else "nothing asked"}
    return {**cell, "sub": NO_GROUPS} if "hides" in quick and column.marks else cell


def _words(mark: Mark, asked: Asked) -> str:
    """How one thing that was asked fares, in a few words."""
    if mark.state == "unknown":
        return "cannot be told"
    if not mark.reached:
        return f"is not reached by any number (asked: {mark.asked})"
    # Whether the method promises what holds is told on hovering and in the answer: it is no reason against a release.
    how = f"{f' for each {asked.person}' if mark.of_people else ''}{', as measured' * (mark.state == 'measured')}"
    if mark.state == "missed":
        return f"is {mark.reached}{how} (asked: {mark.asked})"
    return f"is {mark.reached}{how}{'' if mark.reached == mark.asked else f' ({mark.asked} is enough)'}"


def _sizes_cell(quick: Facts, asked: Asked) -> Cell:
    if "hides" in quick:
        return {"state": "failed", "why": quick["hides"]["why"]}
    text = f"{quick['smallest']:,} or more"
    half = "" if quick["median"] == quick["smallest"] else f"half among {quick['median']:,} or more; "
    sub = f"{half}{quick['groups']:,} groups"
    if quick["word"] == BUCKET:
        # It hides which of its secrets is a person's, and not which row.
        text, full = f"{text} secrets", f"whose row is whose is seen, only the secret hides; {sub}"
        sub = f"whose row is whose is seen, only the secret hides; {quick['groups']:,} groups"
    else:
        text, full = f"{text} {asked.people}", sub
    return {"state": "exact", "text": text, "sub": sub, "full": full, "bars": quick["sizes"], "alt": f"{text}; {full}"}


def _distance_cell(distance: Facts, asked: Asked) -> Cell:
    if "why" in distance:
        return {"state": "failed", "why": distance["why"]}
    text = distance_text(distance["largest"], asked.levels.get("t"))
    sub = f"farthest group; {distance['mean']:.2f} on average"
    return {"state": "exact", "text": text, "sub": sub, "curve": distance["curve"], "alt": f"EMD {text}, {sub}"}


def _lost_cell(lost: Facts) -> Cell:
    if "why" in lost:
        return {"state": "failed", "why": lost["why"]}
    order = sorted(range(len(lost["means"])), key=lambda place: -lost["means"][place])
    worst = [f"{lost['names'][place]} {share_text(lost['means'][place])}" for place in order[:MOST_NAMED]]
    sub = f"worst: {lost['names'][order[0]]}" if lost["means"][order[0]] > 0 else "nothing is lost"
    is_bound = "at_most" in lost
    text = f"at most {share_text(lost['at_most'])}" if is_bound else share_text(lost["value"])
    # As a second number in the cell it ranked releases another way, and readers took it for a reason against the first.
    wide = f"; cells cover {share_text(lost['information'])} of their range" if "information" in lost else ""
    return {
        "state": "bound" if is_bound else "exact",
        "text": text,
        "sub": _bounded(sub, lost["uncounted"]) if is_bound else sub,
        "bars": [lost["means"][place] for place in order],
        "names": [lost["names"][place] for place in order],
        "alt": f"{text} lost; most in {', '.join(worst)}{wide}",
    }


def _bounded(worst: str, uncounted: Sequence[str]) -> str:
    """What is said under the most that can be lost."""
    told = f"{worst}; the original is not here, and it may be less"
    if not uncounted:
        return told
    return f"{told}; cells of {few(uncounted, MOST_NAMED)} that may allow any number of values count as lost"


def _given_cell(column: Shown, attacks: Sequence[str]) -> Cell:
    """The share of people whom the attack gives away that lies farthest above chance, of all that were made.

    `beside` is what chance gets, `sub` fits under the number, and `full` says all of it.
    """
    slow, strongest = column.slow_of("given"), column.slow_of(STRONGEST).facts
    if strongest and not strongest["is_foreground"]:
        return _by_another(column, strongest, attacks)
    facts = slow.facts
    if facts is None:
        return {"state": "failed" if slow.problem else "pending", "why": slow.problem or "being attacked …"}
    if not facts["learned"]:
        return {"state": "failed", "why": f"Not measured: {TOO_SMALL}."}
    n_sets, n_all = facts.get("sets", (0, 0))
    of_sets = f"from {n_sets:,} of {n_all:,} attribute sets" if n_sets < n_all else ""
    costly = facts.get("too_costly")
    of_forms = f"stronger forms of it take too long here (epsilon from {min(costly):g} on)" if costly else ""
    in_part = " (in part)" if _is_limited(facts) else ""
    named = f"by {FOREGROUND}{in_part}, the {_which(strongest)}" if strongest else f"by {FOREGROUND}{in_part}"
    missing = _not_made(column, attacks)
    chance = f"by chance {share_text(facts['control'])}"
    larger = _by_larger(strongest, facts["value"])
    number = given_number(slow)
    if larger and not _is_limited(facts):
        number = _at_least(number)
    which = f"this is the {_which(strongest)}" if strongest else ""
    return {
        **number,
        **_beside(chance, facts["control"], facts["value"]),
        "sub": _told(slow, _joined(named, larger, missing)),
        "full": _told(
            slow,
            _joined(chance, which, larger, of_sets, of_forms, missing),
            _joined(chance, of_forms),
        ),
        "hover": _meaning(FOREGROUND),
        "marks": [[facts["control"], f"{chance}: the same attack on shuffled secrets"]],
        "from": facts["control"],
        "value": facts["value"],
    }


def _by_another(column: Shown, strongest: Facts, attacks: Sequence[str]) -> Cell:
    """The cell where another attack than foreground knowledge lies farthest above chance; it says what foreground
    knowledge gives away beside it.

    The share is a lower bound where foreground knowledge was not tried in full, or any attack gives away more people,
    most of them by chance.
    """
    slow = column.slow_of("given")
    facts = slow.facts
    if facts is None:
        foreground, is_bound = f"{FOREGROUND}: {slow.problem or 'still tried'}", True
        beside = f"{FOREGROUND} {'cannot be tried' if slow.problem else 'still tried'}"
    elif not facts["learned"]:
        foreground, is_bound = f"{FOREGROUND}: {TOO_SMALL}", True
        beside = f"{FOREGROUND}: too small a table"
    else:
        gets, by_chance = share_text(facts["value"]), share_text(facts["control"])
        foreground = f"by {FOREGROUND} {gets}, {by_chance} by chance"
        is_more = facts.get("high", facts["value"]) > strongest["value"]
        is_bound = _is_limited(facts) or is_more
        beside = f"{FOREGROUND} in part" if _is_limited(facts) else ""
        beside = f"{FOREGROUND} {gets}, by chance {by_chance}" if is_more else beside
    share, chance = share_text(strongest["value"]), f"by chance {share_text(strongest['control'])}"
    larger = _by_larger(strongest, strongest["value"])
    text = f"about {share}" if strongest.get("is_estimate", False) else share
    number: Cell = {"state": "exact", "text": text, "alt": text, "interval": None}
    if is_bound or larger:
        number = _at_least(number)
    which, missing = _which(strongest), _not_made(column, attacks)
    return {
        **number,
        **_beside(chance, strongest["control"], strongest["value"]),
        "sub": _joined(f"by {strongest['title']}, the {which}", beside, larger, missing),
        "full": _joined(chance, f"by {strongest['title']}, the {which}", foreground.rstrip("."), larger, missing),
        "hover": _meaning(strongest["title"]),
        "marks": [[strongest["control"], f"{chance}: the same attack where there is nothing to learn"]],
        "from": strongest["control"],
        "value": strongest["value"],
        "by": strongest["title"],
    }


def _meaning(title: str) -> str:
    """What an attack does, after its title; empty for one that is not known here."""
    return f"{title}: {MEANINGS[title]}" if title in MEANINGS else ""


def _by_larger(strongest: Facts | None, share: float) -> str:
    """What another attack gets that gives away more people than the cell tells, most of them by chance; or nothing."""
    larger = (strongest or {}).get("larger")
    if not larger or larger["value"] <= share:
        return ""
    return f"{larger['title']} {share_text(larger['value'])}, by chance {share_text(larger['control'])}"


def _beside(chance: str, control: float, share: float) -> Cell:
    """What chance gets, beside the number; nothing where both are 0."""
    return {} if control == share == 0 else {"beside": chance}


def _which(best: Facts) -> str:
    """In words, that an attack is the strongest, and of how many that were tried on the release."""
    return f"strongest of {best['tried']} attacks tried" if best["tried"] > 1 else "only attack that applies"


def _not_made(column: Shown, attacks: Sequence[str]) -> str:
    """Which of the attacks on any of the columns were not made on this one; of foreground knowledge the cell tells."""
    best = column.slow_of(STRONGEST).facts
    if not best or "attacks" not in best:
        return ""
    missing = [title for title in attacks if title not in (*best["attacks"], FOREGROUND)]
    why = "still to come" if best.get("is_estimate") else "not tried"
    return f"{why}: {and_list(missing)}" if missing else ""


def _is_limited(facts: Facts | None) -> bool:
    """Whether a stronger attack with foreground knowledge was left out, so that a number is no measure of safety."""
    n_sets, n_all = (facts or {}).get("sets", (0, 0))
    return bool(n_sets < n_all or (facts or {}).get("too_costly"))


def given_number(slow: Slow) -> Cell:
    """The share of people whom foreground knowledge gives away, in words, where it could learn something."""
    facts = slow.facts
    assert facts is not None, "only what was measured has a number"
    number = _number(slow, facts, share_text, 100, "%")
    return _at_least(number) if _is_limited(facts) else number


def _at_least(number: Cell) -> Cell:
    """A share that other attacks may exceed, or do; of none, or hardly any, "at least" would say nothing."""
    text, alt = str(number["text"]), str(number["alt"])
    low, is_interval, _ = text.partition(" to ")
    share = text.removeprefix("about ")
    if share == share_text(1.0) or share.startswith("more than"):
        return number
    if share == share_text(0.0) or share.startswith("less than") or (is_interval and float(low) == 0):
        return {**number, "text": f"{share} by what was tried", "alt": f"{alt} by what was tried"}
    return {**number, "text": f"at least {f'{low}%' if is_interval else text}", "alt": f"at least {alt}"}


@dataclass(frozen=True)
class Taught:
    """Whom an attack gives away of those who are attacked: their share, that by chance, and by which attack, in words.

    `least` and `most` are what lies above chance, by the ends of the interval where the share is an estimate.
    """

    share: str
    chance: str
    how: str
    least: float
    most: float

    @property
    def is_sure(self) -> bool:
        """Whether more than a matter of few is given away, wherever in its interval the exact number lies."""
        return self.least > GIVEN_AWAY


def taught(column: Shown) -> Taught | None:
    """What speaks against a release, of the attacks that were made: the one that lies farthest above chance; None where
    none gives away more than a matter of few.

    The upper end of an estimate counts, so that none of which the exact number may speak against the release is passed
    over. The attack of the cell is told in the words of the cell; what the strongest is known by may be another
    estimate.
    """
    given, best = (column.slow_of(name) for name in ("given", STRONGEST))
    made = []
    if given.facts and given.facts["learned"]:
        made.append(_taught(given.facts, str(given_number(given)["text"]), FOREGROUND))
    if best.facts and not (made and best.facts["is_foreground"]):
        about = "about " if best.facts.get("is_estimate") else ""
        made.append(_taught(best.facts, f"{about}{share_text(best.facts['value'])}", best.facts["title"]))
    # Of two that are as strong, it is the one that the cell tells.
    found = max(reversed(made), key=lambda one: (one.is_sure, round(one.most, 9)), default=None)
    return found if found is not None and found.most > GIVEN_AWAY else None


def _taught(facts: Facts, share: str, how: str) -> Taught:
    control = facts["control"]
    least, most = (shown_difference(facts[end if end in facts else "value"], control) for end in ("low", "high"))
    return Taught(share, share_text(control), how, least, most)


def is_still_attacked(column: Shown, asked: Asked) -> bool:
    """Whether nothing is known yet of what a release gives away, and something will be."""
    slow = column.slow_of("given")
    return asked.secret is not None and slow.facts is None and not slow.problem


def _predicted_cell(slow: Slow) -> Cell:
    facts = slow.facts
    if facts is None:
        return {"state": "failed" if slow.problem else "pending", "why": slow.problem or "being learned …"}
    marks = [
        [facts["guess"], f"guessing: {facts['guess']:.2f}"],
        [facts["original"], f"original: {facts['original']:.2f}"],
    ]
    told = f"original table {facts['original']:.2f}, guessing {facts['guess']:.2f}"
    if round(facts["value"], 2) > round(facts["original"], 2):
        told += ABOVE
    return {
        **_number(slow, facts, lambda value: f"{value:.2f}", 1, ""),
        "sub": _told(slow, told),
        "marks": marks,
        "value": facts["value"],
    }


def _number(slow: Slow, facts: Facts, text: Callable[[float], str], times: int, unit: str) -> Cell:
    """A number with the interval of its estimate, where it is one; `times` makes it a number of its unit."""
    said = text(facts["value"])
    if slow.exact is not None or "low" not in facts:
        return {"state": "exact", "text": said, "alt": said, "interval": None}
    low, high = facts["low"], facts["high"]
    about = _about(times * facts["value"], times * low, times * high, unit, times)
    return {
        "state": "estimate",
        "text": about,
        "alt": f"about {said}, with 95% confidence between {text(low)} and {text(high)}, estimated {facts['how']}",
        "interval": [low, high],
    }


def _about(value: float, low: float, high: float, unit: str, most: float) -> str:
    """An estimate in as many digits as its interval allows; the two ends of one that is far from even, or so wide that
    nothing may be there, or more than the `most` there can be.
    """
    below, above = value - low, high - value
    margin = max(below, above)
    digits = (0 if margin >= 1 else 1) if unit else (2 if margin >= 0.01 else 3)
    step = 10.0**-digits
    if margin > LOPSIDED * min(below, above) + step or margin >= value or value + margin > most:
        least, most = floor(low / step + ACCUMULATED) * step, ceil(high / step - ACCUMULATED) * step
        return f"{least:.{digits}f} to {most:.{digits}f}{unit}"
    return f"≈ {value:.{digits}f}{unit} ± {ceil(margin / step - ACCUMULATED) * step:.{digits}f}"


def _told(slow: Slow, exactly: str, first: str = "") -> str:
    """What is said under a slow number: how it was estimated, after what is said `first`, or what it is to be compared
    with.
    """
    if slow.exact is None and slow.estimate is not None and "how" in slow.estimate:
        return f"{first}{'; ' if first else ''}estimate {slow.estimate['how']}; the exact number follows"
    return exactly
