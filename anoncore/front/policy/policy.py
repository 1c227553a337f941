"""A policy: the rules of an office as data, read from a file of TOML or taken from those that come with the program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from anoncore.base import toml
from anoncore.base.arguments import checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.extensions import load_extensions
from anoncore.base.showing import Lines, Shown
from anoncore.base.texts import no_such
from anoncore.base.toml_reading import Line, TomlFile, read_text
from anoncore.front.policy import PRESETS
from anoncore.front.policy.judgement import Judgement
from anoncore.front.policy.release_rules import judge_release
from anoncore.front.policy.sections import Context, Levels, Limit, Name, Refuse, measure_named, require_fitting
from anoncore.front.policy.wording import rules_in_words
from anoncore.measures.criteria import NUMBERS
from anoncore.recipes.schema import DRAFT
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

FOLDER = Path(__file__).with_name("presets")


@checked_methods
class Policy(Shown, TomlFile, BaseModel):
    """The rules of an office: what a release has to keep before it leaves the house.

    A policy is data and never code. Whether a law is met it cannot say: it says what was asked and what was measured.

    Attributes
    ----------
    name : str
        What the policy is called.
    format : int
        Version of the format, 1.
    source : str
        Who made the rules, and when or where.
    purpose : str
        What it is for, in a sentence.
    context : Context
        `recipient`: who receives the release, "open", "contract" or "enclave". It is no rule.
    levels : Levels
        `k`, `l`, `t`, `c` of every group, as the board asks them, and `largest_belief`.
    risks : dict of str to Limit
        A limit, `at_most` or `at_least`, by the name of a measure of `anoncore.measures.NUMBERS`.
    refuse : Refuse
        `columns` that must not be published, `free_text`, and `identifiers = "safe-harbor"`.

    Raises
    ------
    ParameterError
        For an unknown key or measure, a number out of range, and a policy without any rule.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, Policy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> policy = Policy(name="Ours", levels={"k": 2, "largest_belief": 0.4})
    >>> judgement = policy.judge(release)
    >>> judgement.exit_code, [line.status for line in judgement.lines]
    (1, ['kept', 'broken'])
    """

    model_config = ConfigDict(title="Policy of a release by anoncore")
    _what: ClassVar[str] = "policy"

    format: Annotated[Literal[1], Field(description="The format in which the policy is written.")] = 1
    name: Annotated[Name, Field(description="What the policy is called.")]
    source: Annotated[
        Line,
        Field(description="Who made the rules, and when or where."),
    ] = ""
    purpose: Annotated[
        Line,
        Field(description="What the policy is for, in a sentence."),
    ] = ""
    context: Annotated[Context, Field(description="Who receives the release, which is no rule.")] = Context()
    levels: Annotated[Levels, Field(description="What every group has to keep.")] = Levels()
    risks: Annotated[dict[str, Limit], Field(description="Limits by the name of a measure.")] = {}
    refuse: Annotated[Refuse, Field(description="What must not be published at all.")] = Refuse()

    def __init__(self, **fields: Any) -> None:
        load_extensions()
        super().__init__(**fields)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for name, limit in self.risks.items():
            require_fitting(measure_named(name), limit)
        if not self.levels.model_dump(exclude_none=True) and not self.risks and not self.refuse.refuses:
            raise ValueError(
                "it has no rule; write one under [levels], [risks] or [refuse], such as k = 11 under [levels]"
            )
        return self

    @classmethod
    def load(cls, policy: str | Path) -> Self:
        """The policy in a file of TOML, or one of those that come with the program.

        Parameters
        ----------
        policy : str or Path
            The file, or a name of `Policy.presets()`.

        Returns
        -------
        Policy
            The policy.

        Raises
        ------
        ParameterError
            For a file that cannot be read or is no policy, and a name that no policy has.

        Examples
        --------
        >>> from anoncore import Policy
        >>> Policy.load("cms").levels.k
        11
        """
        if isinstance(policy, str) and policy in PRESETS:
            return cls.loads((FOLDER / f"{policy}.toml").read_text(encoding="utf-8"))
        file = Path(policy)
        if isinstance(policy, str) and not file.suffix and not file.exists():
            raise ParameterError(f"{no_such('policy', policy, PRESETS)} A file is named with its ending, .toml.")
        return cls.loads(read_text(file, "policy"))

    @staticmethod
    def presets() -> dict[str, str]:
        """The policies that come with the program.

        Returns
        -------
        dict of str to str
            What each is for, in a sentence, by the name with which `load` gives it.

        Examples
        --------
        >>> from anoncore import Policy
        >>> "cms" in Policy.presets()
        True
        """
        return {name: preset(name).purpose for name in PRESETS}

    @classmethod
    def schema(cls) -> dict[str, Any]:  # type: ignore[override]  # pydantic's own, which is deprecated
        """The JSON schema of a policy, its TOML read as plain values, with which editors check one while it is written.

        Returns
        -------
        dict of str to object
            A schema of the draft 2020-12.

        Examples
        --------
        >>> from anoncore import Policy
        >>> Policy.schema()["required"]
        ['name']
        """
        load_extensions()
        described = cls.model_json_schema()
        described["properties"]["risks"]["propertyNames"] = {"enum": list(NUMBERS)}
        described.pop("description", None)
        return {"$schema": DRAFT, **described}

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain values, without what says nothing.

        Returns
        -------
        dict of str to object
            What a file of it holds.

        Examples
        --------
        >>> from anoncore import Policy
        >>> Policy(name="Ours", levels={"k": 5}).to_dict()
        {'format': 1, 'name': 'Ours', 'levels': {'k': 5}}
        """
        told = {"format": self.format, **self.model_dump(mode="json", exclude_defaults=True, exclude_none=True)}
        return {name: value for name, value in told.items() if value not in ({}, "")}

    def to_toml(self) -> str:
        """The policy as the text of a file, which `loads` reads back.

        Returns
        -------
        str
            The TOML.

        Examples
        --------
        >>> from anoncore import Policy
        >>> print(Policy(name="Ours", levels={"k": 5}).to_toml(), end="")
        format = 1
        name = "Ours"
        <BLANKLINE>
        [levels]
        k = 5
        """
        return toml.dumps(self.to_dict())

    def judge(
        self, release: Release, secret: str | Sequence[str] | None = None, control: Microdata | None = None
    ) -> Judgement:
        """Say of every rule whether a release keeps it, with what was asked and what is reached.

        What cannot be measured is never kept, and what holds only while nobody knows a published column is told apart
        from what holds. Groups that do not hide whose row is whose keep no k.

        Parameters
        ----------
        release : Release
            The release that is judged.
        secret : str or sequence of str, optional
            Sensitive attributes that rules about secrets are judged on; by default all of them.
        control : Microdata, optional
            People who are not in the release, drawn as those were who are in it; see `Microdata.split`. Without them
            what singling out, linkability and inference get above chance cannot be measured.

        Returns
        -------
        Judgement
            A line for every rule, and for every secret that it is about.

        Raises
        ------
        DataError
            For an attribute that the table lacks or that is not sensitive.

        Notes
        -----
        Assumes: an adversary knows all quasi-identifiers of a person, and who is in the table.
        Cost: that of the measures that the policy names; attacks may take minutes.
        Use: before a release leaves the house.
        Avoid: one number is in question: ask for that.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Microdata, Policy
        >>> from anoncore.algorithms import Mondrian
        >>> from anoncore.requirements import KAnonymity
        >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
        >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
        >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
        >>> print(Policy.load("cms").judge(release).headline)
        CMS cell size: 1 of 1 rule is broken.
        """
        return judge_release(self, release, secret, control)

    def rules(self) -> tuple[str, ...]:
        """Every rule in words, levels first.

        Returns
        -------
        tuple of str
            A phrase for each rule.

        Examples
        --------
        >>> from anoncore import Policy
        >>> Policy(name="Ours", levels={"k": 5}, refuse={"columns": ["phone"]}).rules()
        ('groups of at least 5 people (k)', "'phone' is not published")
        """
        return tuple(rules_in_words(self).values())

    def __str__(self) -> str:
        return repr(self)

    def _headline(self) -> str:
        return f"Policy '{self.name}'"

    def _lines(self) -> Lines:
        told = [("source", self.source), ("purpose", self.purpose), ("recipient", self.context.sentence)]
        return [*((about, text) for about, text in told if text), *(("rule", rule) for rule in self.rules())]


@cache
def preset(name: str) -> Policy:
    """One of the policies that come with the program."""
    return Policy.load(name)
