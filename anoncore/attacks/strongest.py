"""All attacks on one release beside each other, and the strongest one for each thing that an adversary may be after."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from anoncore.attacks.combinatorial_refinement import refinement
from anoncore.attacks.composition import By, composition
from anoncore.attacks.control_figures import Figures
from anoncore.attacks.definetti import BURN_IN, SAMPLES, STARTS, definetti
from anoncore.attacks.disclosure import attribute_disclosure
from anoncore.attacks.foreground.attack import TOO_SMALL, foreground_knowledge
from anoncore.attacks.foreground.control import shuffled_release
from anoncore.attacks.foreground.first_answer import ForegroundEstimate, foreground_knowledge_estimate
from anoncore.attacks.foreground.result import ForegroundKnowledge
from anoncore.attacks.foreground.sampled_groups import SAMPLED_ROWS
from anoncore.attacks.inferring import inference
from anoncore.attacks.join_likelihood import JoinLikelihood
from anoncore.attacks.linkability import linkability
from anoncore.attacks.membership import membership
from anoncore.attacks.memorizing import memorization
from anoncore.attacks.minimality import minimality
from anoncore.attacks.region_membership import region_membership
from anoncore.attacks.reidentification import reidentification
from anoncore.attacks.shifted_dates import shifted_dates
from anoncore.attacks.singling_out import singling_out
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, CancelledError, ParameterError
from anoncore.base.number import RISK, Number, measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.score import Score
from anoncore.base.showing import Result, clean, picture, printable
from anoncore.base.texts import SHOWN_DIGITS, listing, share_text
from anoncore.kernels.arrays import Floats, record
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.group_sample import sampled
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

Aim = Literal["identity", "attribute", "membership"]
AIMS: tuple[Aim, ...] = get_args(Aim)
ON_ATTRIBUTES: tuple[Aim, ...] = ("attribute",)
SHUFFLED = "the same attack on shuffled secrets"
GUESSING = "guessing without the release"
NOT_AT_FIRST = "A first answer leaves this attack out, as it takes longer."
OTHERS = "the same attack on people who are not in the table"

STRONGEST_ON_ATTRIBUTES = replace(
    RISK,
    name="strongest-attribute",
    title="Strongest attack on attributes",
    template=(
        "How much larger the share of people is whose value of {attribute} the strongest attack gives away than the "
        "share that its control gives away: what the release tells an adversary who tries every attack."
    ),
    source="the authors of each attack; ranking by what lies above the control is ours",
    bounds=(0.0, 1.0),
    baseline="0: an attack that gets no more than its control.",
    of_attribute=True,
    is_slow=True,
    short="Strongest attack",
)
STRONGEST_ON_IDENTITY = replace(
    STRONGEST_ON_ATTRIBUTES,
    name="strongest-identity",
    title="Strongest attack on identity",
    template=(
        "How much more often the strongest attack finds a person's record, singles somebody out or links two lists "
        "than its control does."
    ),
    unit="share of guesses",
    of_attribute=False,
)
STRONGEST_ON_MEMBERSHIP = replace(
    STRONGEST_ON_IDENTITY,
    name="strongest-membership",
    title="Strongest attack on membership",
    template="How much surer the strongest attack is that somebody is in the table than its control is.",
    unit="probability",
)
_NUMBERS: dict[Aim, Number] = {
    "identity": STRONGEST_ON_IDENTITY,
    "attribute": STRONGEST_ON_ATTRIBUTES,
    "membership": STRONGEST_ON_MEMBERSHIP,
}


@record
class AttackGain(Result):
    """What one attack gets from a release, and how much of it lies above its control.

    Attributes
    ----------
    name : str
        The attack, such as `definetti`: its function in `anoncore.attacks`.
    title : str
        What people call it, such as `deFinetti's attack`.
    aim : {"identity", "attribute", "membership"}
        What the adversary is after.
    share : float
        What the attack gets.
    measured : str
        What `share` is a share of, in a few words.
    control : float
        What the control gets.
    compared_with : str
        What the control is, in a few words.
    gain : float
        How much of `share` lies above `control`, by which attacks with one aim are ranked; a Score of the strongest
        one. It is 0 where the control gets more: an attack that got less by chance is no weaker than one that got
        nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> found = attacks.strongest(release, "disease")
    >>> found.identity.name, found.identity.share, found.identity.control
    ('reidentification', 0.5, 0.25)
    """

    name: str
    title: str
    aim: Aim
    share: float
    measured: str
    control: float
    compared_with: str
    gain: float


@record
class Strongest(Result):
    """The strongest attack for each aim, all attacks that were tried, and why the others were not.

    Attributes
    ----------
    attribute_name : str
        The sensitive attribute that is attacked.
    r : float
        Somebody's value is given away by a belief above 1 / r.
    identity, attribute, membership : AttackGain or None
        The attack with the largest gain over its control, and of those that gain alike (in tenths of a percentage
        point) the one that gets the largest share; None where no attack with this aim applies. Gains of different aims
        are not to be compared: they are shares of different things.
    tried : tuple of AttackGain
        All attacks that apply, by aim, the strongest first.
    not_tried : dict of str to str
        The other attacks, and why they do not apply.
    is_estimate : bool
        Whether these are first answers, which the exact ones may exceed.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> found = attacks.strongest(release, "disease")
    >>> found.tried[0].name, found.tried[0].measured
    ('reidentification', 'share of records whose person is found')
    """

    attribute_name: str
    r: float
    identity: AttackGain | None
    attribute: AttackGain | None
    membership: AttackGain | None
    tried: tuple[AttackGain, ...]
    not_tried: dict[str, str]
    is_estimate: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """What every attack got, beside its control, and why others were not tried, below a line that says of what."""
        estimated = ", estimated only" if self.is_estimate else ""
        lines = [f"Attacks on '{clean(self.attribute_name)}', the strongest of each aim first{estimated}:"]
        for attack in self.tried:
            share, control = share_text(attack.share), share_text(attack.control)
            got = f"{share} ({attack.measured}); control: {control} ({attack.compared_with})"
            lines.append(f"{attack.aim}, {attack.title}: {got}")
        for name, reason in self.not_tried.items():
            lines.append(f"not tried, {name.replace('_', ' ')}: {printable(reason)}")
        return tuple(lines)

    def frame(self) -> pd.DataFrame:
        """A line per attack, the strongest of each aim first.

        Returns
        -------
        DataFrame
            Columns `aim`, `attack`, `title`, `share`, `control`, `gain`, `measured`, `compared_with`, and `why_not` of
            those that do not apply.
        """
        lines = [
            {
                "aim": one.aim,
                "attack": one.name,
                "title": one.title,
                "share": one.share,
                "control": one.control,
                "gain": float(one.gain),
                "measured": one.measured,
                "compared_with": one.compared_with,
                "why_not": "",
            }
            for one in self.tried
        ]
        known = {attack.name: attack for attack in _ATTACKS}
        lines += [
            {
                "aim": known[name].aim,
                "attack": name,
                "title": known[name].title,
                "share": nan,
                "control": nan,
                "gain": nan,
                "why_not": reason,
            }
            for name, reason in self.not_tried.items()
        ]
        return pd.DataFrame(lines).fillna({"measured": "", "compared_with": ""})

    def plot(self) -> Any:
        """Draw what each attack gets, beside its control.

        Returns
        -------
        plotly.graph_objects.Figure
            The picture.

        Raises
        ------
        AnonymizationError
            Where Plotly is not installed, or no attack applies.
        """
        if not self.tried:
            raise AnonymizationError("Strongest has no number to draw: no attack applies; .frame() says why.")
        words = {"share": "what the attack gets", "control": "what its control gets"}
        tried = self.frame().dropna(subset=["gain"]).rename(columns=words)
        return picture(
            tried,
            kind="bar",
            x="title",
            y=list(words.values()),
            barmode="group",
            title="Attacks beside their controls",
            across="attack",
            upwards="share (0 to 1)",
        )


@record
class _Asked:
    """What all attacks are asked with. `some` are groups of a large release from which a first answer learns, and
    `to_beat` is the most that another attack with this aim gains.
    """

    release: Release
    some: Release
    attribute: str
    r: float
    draws: int
    control: Microdata | None
    earlier: Release | None
    by: By
    foreground: ForegroundKnowledge | None
    estimate: bool
    seed: int
    to_beat: float = -inf

    @property
    def believed_in_groups(self) -> str:
        """What an attack on all groups gives a share of."""
        return _BELIEVED.replace("people", self.release.data.attacked_word)


Outcome = tuple[float, str, float, str]
"""What an attack gets, of what that is a share, what its control gets, and what the control is."""


def _single_groups(asked: _Asked, progress: Progress) -> Outcome:
    release, limit = asked.release, 1 / asked.r
    disclosure = attribute_disclosure(release, asked.attribute)
    share = _believed(disclosure.confidence, limit)
    by_chance = []
    # A control runs the method on the whole table, and no attack gains more than its share.
    is_beaten = asked.estimate and share < asked.to_beat
    for draw in range(0 if release.algorithm is None or is_beaten else asked.draws):
        progress(draw / asked.draws, "Single groups: controls")
        control, source, _ = shuffled_release(release, asked.attribute, asked.seed + 1 + draw)
        if source is None:
            by_chance.append(_believed(attribute_disclosure(control, asked.attribute).confidence, limit))
    if by_chance:
        return share, _BELIEVED, float(np.mean(by_chance)), SHUFFLED
    true = release.data.sensitive_view(asked.attribute).codes
    table = disclosure.baseline
    protected = release.data.sensitive_values.get(asked.attribute)
    if protected is None:
        guess = float(lies_above(table[true], limit, ACCUMULATED).mean())
    else:
        domain = release.data.domain[asked.attribute]
        guess = float(sum(table[domain.code_of(value)] for value in protected) > limit)
    return share, _BELIEVED, guess, GUESSING


def _foreground(asked: _Asked, progress: Progress) -> Outcome:
    found: ForegroundKnowledge | ForegroundEstimate | None = asked.foreground
    if found is None and asked.estimate:
        found = foreground_knowledge_estimate(
            asked.release, asked.attribute, asked.r, seed=asked.seed, progress=progress
        )
    if found is None:
        found = foreground_knowledge(
            asked.release, asked.attribute, asked.r, draws=asked.draws, seed=asked.seed, progress=progress
        )
    if not found.learned:
        raise ParameterError(
            f"{TOO_SMALL[0].upper()}{TOO_SMALL[1:]}: no group of people who are alike is large enough."
        )
    share = float(found.recall if isinstance(found, ForegroundKnowledge) else found.value)
    return share, asked.believed_in_groups, float(found.control), SHUFFLED


def _definetti(asked: _Asked, progress: Progress) -> Outcome:
    starts, burn_in, samples = (1, 20, 20) if asked.estimate else (STARTS, BURN_IN, SAMPLES)
    found = definetti(
        asked.some,
        asked.attribute,
        asked.r,
        draws=asked.draws,
        starts=starts,
        burn_in=burn_in,
        samples=samples,
        seed=asked.seed,
        progress=progress,
    )
    return (
        float(found.recall),
        asked.believed_in_groups,
        float(found.control),
        SHUFFLED,
    )


def _minimality(asked: _Asked, progress: Progress) -> Outcome:
    """Readers who know the method; on a release of shuffled secrets, made once as this takes long, they know it too."""
    if asked.estimate:
        raise ParameterError(NOT_AT_FIRST)
    share = _knowing_the_method(asked.release, asked, part_of(progress, 0, 0.4))
    control, source, note = shuffled_release(asked.release, asked.attribute, asked.seed + 1)
    if source is not None:
        raise ParameterError(note)
    by_chance = _knowing_the_method(control, asked, part_of(progress, 0.4, 1.0))
    return share, _BELIEVED, by_chance, SHUFFLED


def _refinement(asked: _Asked, progress: Progress) -> Outcome:
    if asked.estimate:
        raise ParameterError(NOT_AT_FIRST)
    found = refinement(asked.release, asked.attribute, asked.r, draws=asked.draws, seed=asked.seed, progress=progress)
    return float(found.recall), _BELIEVED, float(found.control), SHUFFLED


def _knowing_the_method(release: Release, asked: _Asked, progress: Progress) -> float:
    found = minimality(release, asked.attribute, seed=asked.seed, progress=progress)
    view = release.data.sensitive_view(asked.attribute)
    own = found.probability[found.signature, view.codes]
    return _believed(np.where(view.codes == view.unique, nan, own), 1 / asked.r)


def _beside_outsiders(
    attack: Callable[..., Figures], measured: str, is_of_attribute: bool
) -> Callable[[_Asked, Progress], Outcome]:
    """How an attack is run that tries people outside the table as well."""

    def run(asked: _Asked, _progress: Progress) -> Outcome:
        if asked.control is None:
            raise ParameterError(_NO_CONTROL)
        about = (asked.attribute,) if is_of_attribute else ()
        figures = attack(asked.release, *about, control=asked.control, seed=asked.seed)
        return float(figures.members), measured, float(figures.control), OTHERS

    return run


def _composition(asked: _Asked, _progress: Progress) -> Outcome:
    if asked.earlier is None:
        raise ParameterError("No earlier release of these people was given.")
    breach = composition([asked.release, asked.earlier], asked.attribute, asked.by, asked.r).breach
    measured = "share of people in both releases believed above 1/r"
    return float(breach), measured, _baseline(breach), "the worse of both releases alone"


def _linking(asked: _Asked, _progress: Progress) -> Outcome:
    risk = reidentification(asked.release).prosecutor.mean
    return float(risk), "share of records whose person is found", _baseline(risk), GUESSING


def _shifted_dates(asked: _Asked, progress: Progress) -> Outcome:
    found = shifted_dates(asked.release, progress=progress)
    share = max([found.within, *([] if found.intervals is None else [found.intervals])])
    return float(share), "share of people found by dates or intervals", _baseline(share), GUESSING


def _membership(asked: _Asked, _progress: Progress) -> Outcome:
    result = membership(asked.release, seed=asked.seed)
    belief = result.mean if isinstance(result, JoinLikelihood) else result.belief
    return float(belief), _belief_words(belief), _baseline(belief), GUESSING


def _region_membership(asked: _Asked, _progress: Progress) -> Outcome:
    belief = region_membership(asked.release).mean
    return float(belief), _belief_words(belief), _baseline(belief), GUESSING


def _belief_words(belief: Score) -> str:
    """What a belief is a probability of, without the full stop of a sentence."""
    return f"belief: {belief.meaning.rstrip('.')}"


def _baseline(score: Score) -> float:
    """What guessing gets. Raises ParameterError where that is not known, as no control is not a control of 0."""
    if score.baseline is None:
        raise ParameterError(f"{score.title} has no number of guessing beside it to be compared with.")
    return float(score.baseline)


_BELIEVED = "share of people whose value is believed above 1/r"
_SINGLED_OUT = "share of predicates that single somebody out"
_ALL_ALIKE = "share of right guesses, every value counting alike"
_NO_CONTROL = (
    "No people outside the table were given to compare with; give some, such as the second part of "
    "data.split(control=0.2)."
)


@dataclass(frozen=True)
class _Attack:
    name: str
    title: str
    aim: Aim
    run: Callable[[_Asked, Progress], Outcome]
    weight: float = 1.0
    is_last: bool = False


_ATTACKS = (
    _Attack("reidentification", "finding a record", "identity", _linking),
    _Attack("singling_out", "singling out", "identity", _beside_outsiders(singling_out, _SINGLED_OUT, False), 3.0),
    _Attack(
        "linkability",
        "linking two lists",
        "identity",
        _beside_outsiders(linkability, "share of right links", False),
        3.0,
    ),
    _Attack("shifted_dates", "shifted dates", "identity", _shifted_dates),
    _Attack("attribute_disclosure", "single groups", "attribute", _single_groups, 2.0, is_last=True),
    _Attack("foreground_knowledge", "foreground knowledge", "attribute", _foreground, 20.0),
    _Attack("definetti", "deFinetti's attack", "attribute", _definetti, 5.0),
    _Attack("minimality", "knowing the method", "attribute", _minimality, 5.0),
    _Attack("refinement", "refused groups", "attribute", _refinement, 8.0),
    _Attack("composition", "both releases together", "attribute", _composition),
    _Attack("inference", "inference", "attribute", _beside_outsiders(inference, "share of right guesses", True), 3.0),
    _Attack("memorization", "reconstruction", "attribute", _beside_outsiders(memorization, _ALL_ALIKE, True), 3.0),
    _Attack("membership", "fake tuples", "membership", _membership, 2.0),
    _Attack("region_membership", "regions", "membership", _region_membership),
)
"""Every attack, about how long it takes beside the others, and whether it is made last as it may be beaten before."""


@measure(STRONGEST_ON_ATTRIBUTES, STRONGEST_ON_IDENTITY, STRONGEST_ON_MEMBERSHIP, title="Strongest attack")
@checked
def strongest(
    release: Release,
    attribute: str,
    r: float = 2.0,
    control: Microdata | None = None,
    earlier: Release | None = None,
    by: By = None,
    aims: Collection[Aim] = AIMS,
    foreground: ForegroundKnowledge | None = None,
    draws: int = 3,
    estimate: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Strongest:
    """Try every attack that applies to a release, and rank them by what they gain over their control.

    A large share alone says little: where groups are small, chance gives much away. So each attack is held against the
    same attack where there is nothing to learn: on releases of shuffled secrets, on people who are not in the table, or
    against guessing without the release. What lies above is the gain. Of attacks that gain alike, or nothing, the one
    that gets the largest share comes first, so that no share of 0 hides what another attack gets.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        Somebody's value is given away by a belief above 1 / r; at least 1.
    control : Microdata, optional
        People who are not in the release, drawn as those were who are in it; see `Microdata.split`. Without them,
        singling out, linkability, inference and memorization are not tried.
    earlier : Release, optional
        An earlier release of these people, for the composition attack.
    by : str, optional
        The attribute that says who is who in both releases; see `composition`.
    aims : collection of {"identity", "attribute", "membership"}
        What the adversary may be after; attacks with other aims are left aside.
    foreground : ForegroundKnowledge, optional
        What `foreground_knowledge` found with this r, where that was asked already: it takes longest of all.
    draws : int
        How often the secret is shuffled for the controls; at least 1. Readers who know the method have one.
    estimate : bool
        Whether a first answer is enough: some attribute sets for foreground knowledge, fewer rounds of deFinetti's
        attack, one control for each, and nothing that a known method refused. Of a large release, both learn from some
        groups. Single groups have no control where another attack gains more than their share; the strongest attack is
        the same without.
    seed : int
        Draws the controls and all else that is random.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attacks.

    Returns
    -------
    Strongest
        The strongest attack for each aim, beside all others and why some do not apply.

    Raises
    ------
    DataError
        For an attribute that the table lacks.
    ParameterError
        For a number out of range.

    Notes
    -----
    Assumes: what each attack assumes; the adversary has all of their knowledge.
    Cost: the sum of all attacks, most of it the one with foreground knowledge.
    Use: one number is to say what a release gives away, whatever method made it.
    Avoid: a single adversary is of interest: see their attack.

    References
    ----------
    Those of the attacks.

    Examples
    --------
    Smokers have cancer and others have the flu. Most groups have one of each, and no group tells who has which, but two
    groups tell how the two go together:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"smokes": ["yes", "no"] * 20, "disease": ["cancer", "flu"] * 20})
    >>> people.loc[:3] = [["yes", "cancer"], ["yes", "cancer"], ["no", "flu"], ["no", "flu"]]
    >>> data = Microdata(people, roles={"smokes": "quasi-identifier", "disease": "sensitive"})
    >>> pairs = Partition([row // 2 for row in range(40)])
    >>> exact = {name: Exact(data.domain[name], pairs, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, pairs, {name: exact[name]}) for name in exact))
    >>> found = attacks.strongest(release, "disease", r=1.5)
    >>> found.attribute.name, found.attribute.share
    ('foreground_knowledge', 1.0)
    >>> found.not_tried["composition"]
    'No earlier release of these people was given.'
    """
    release.data.require_sensitive(attribute)
    if not r >= 1:
        raise ParameterError(f"r must be at least 1, so that 1 / r is a probability, not {r}.")
    if draws < 1:
        raise ParameterError(f"draws is how often the secret is shuffled for the controls, at least 1, not {draws}.")
    if not aims:
        raise ParameterError(f"An adversary is after {listing(AIMS)}, not nothing.")
    if foreground is not None and (foreground.attribute, foreground.r) != (attribute, r):
        raise ParameterError(
            f"The attack with foreground knowledge was asked about '{foreground.attribute}' with r = {foreground.r:g}, "
            f"and all attacks about '{attribute}' with r = {r:g}; ask it anew or leave it out."
        )
    some = sampled(release, SAMPLED_ROWS, seed).release if estimate else release
    asked = _Asked(
        release, some, attribute, r, 1 if estimate else draws, control, earlier, by, foreground, estimate, seed
    )
    report = silent if progress is None else progress
    words = {"attribute": f"'{attribute}'", "r": f"{r:g}"}
    chosen = [attack for attack in _ATTACKS if attack.aim in aims]
    total, done = sum(attack.weight for attack in chosen), 0.0
    tried: list[AttackGain] = []
    not_tried: dict[str, str] = {}
    for attack in sorted(chosen, key=lambda one: one.is_last):
        report(done / total, f"Trying {attack.title}")
        to_beat = max((one.gain for one in tried if one.aim == attack.aim), default=-inf)
        share_done = part_of(report, done / total, (done + attack.weight) / total)
        try:
            outcome = attack.run(replace(asked, to_beat=to_beat), share_done)
        except CancelledError:
            raise
        except AnonymizationError as error:
            not_tried[attack.name] = str(error)
        else:
            share, measured, control_share, compared_with = outcome
            if isnan(share - control_share):
                # What could not be measured is neither ranked nor 0.
                not_tried[attack.name] = "Not measured: nobody's value needs protection, or no guess was made."
            else:
                gain = max(share - control_share, 0.0)
                tried.append(
                    AttackGain(
                        attack.name, attack.title, attack.aim, share, measured, control_share, compared_with, gain
                    )
                )
        done += attack.weight
    tried.sort(key=lambda one: [attack.name for attack in chosen].index(one.name))
    not_tried = {attack.name: not_tried[attack.name] for attack in chosen if attack.name in not_tried}
    ranked: list[AttackGain] = []
    best: dict[Aim, AttackGain | None] = dict.fromkeys(_NUMBERS)
    for aim, number in _NUMBERS.items():
        of_aim = sorted((one for one in tried if one.aim == aim), key=_strength, reverse=True)
        if of_aim:
            of_aim[0] = best[aim] = replace(of_aim[0], gain=Score(of_aim[0].gain, number, baseline=0.0, words=words))
        ranked += of_aim
    return Strongest(
        attribute, r, best["identity"], best["attribute"], best["membership"], tuple(ranked), not_tried, estimate
    )


def _strength(attack: AttackGain) -> tuple[float, float]:
    """By what attacks with one aim are ranked: what they gain, as far as it is shown, and what they get."""
    return round(attack.gain, SHOWN_DIGITS), attack.share


def _believed(own: Floats, limit: float) -> float:
    """The share of the beliefs in own values, NaN where these need no protection, that lie above the limit."""
    return float(lies_above(own[~np.isnan(own)], limit, ACCUMULATED).mean())
