"""What a policy holds: its fields, checked, and what is wrong with them in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.extensions import load_extensions
from anoncore.base.showing import printable
from anoncore.base.texts import did_you_mean, listing, quoted
from anoncore.front.policy.sections import Context, Levels, Limit, Line, Name, Refuse, measure_named, require_fitting


@checked_methods
class Rules(BaseModel):
    """The fields of a policy. Raises ParameterError with one sentence that names the key for what is wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Policy of a release by anoncore")

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
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise ParameterError(printable(_sentence(error))) from None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for name, limit in self.risks.items():
            require_fitting(measure_named(name), limit)
        if not self.levels.model_dump(exclude_none=True) and not self.risks and not self.refuse.refuses:
            raise ValueError(
                "it has no rule; write one under [levels], [risks] or [refuse], such as k = 11 under [levels]"
            )
        return self


SECTIONS: Mapping[str, type[BaseModel]] = {"context": Context, "levels": Levels, "refuse": Refuse, "risks": Limit}


def _sentence(error: ValidationError) -> str:
    """What is wrong with a policy, in a sentence that names the key."""
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if not str(part).startswith(("constrained-", "function-"))]
    key, above, message = ".".join(place), place[:-1], first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        section = SECTIONS.get(place[0]) if above else Rules
        names = list(section.model_fields) if section is not None else []
        where = f"[{'.'.join(above)}] has" if above else "A policy has"
        return f"{where} no key {quoted(place[-1])}; it has {listing(names)}.{did_you_mean(place[-1], names)}"
    if first["type"] == "missing":
        return f"The policy lacks '{key}'; write it down, such as {key} = \"Research under contract\"."
    if first["type"] == "value_error":
        return f"Policy: {f'{key}: ' if key else ''}{message}."
    if message.startswith("Input should be "):
        return f"Policy: {key} should be {message.removeprefix('Input should be ')}, not {quoted(first['input'])}."
    return f"Policy: {key}: {message}."
