"""Policies: what a file may say, what it says of a release by hand, and what nobody can say."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from anoncore import DataError, Exact, Fragment, Microdata, ParameterError, Partition, Policy, Release
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.cli.sweep import policy_targets
from anoncore.front.policy import PRESETS
from anoncore.front.policy.judgement import CODES, JudgedRule, Judgement
from anoncore.front.policy.measure_limits import Measured
from anoncore.front.policy.policy import FOLDER
from anoncore.front.policy.refused_contents import judged_columns, judged_contents
from anoncore.front.policy.sections import RECIPIENTS, Limit, Refuse
from anoncore.measures.criteria import NUMBERS
from anoncore.requirements import KAnonymity
from anoncore.search.found import Target

ROLES = {"age": "quasi-identifier", "disease": "sensitive"}


def people(n: int = 22, diseases: tuple[str, ...] = ("flu", "cold")) -> pd.DataFrame:
    return pd.DataFrame({"age": range(20, 20 + n), "disease": [diseases[row % len(diseases)] for row in range(n)]})


def released(k: int = 11, **more: str) -> Release:
    """Two classes of eleven people in a row, of whom half (6 or 5 of 11) have the flu."""
    frame = people()
    for name in more:
        frame[name] = range(len(frame))
    return Mondrian(requirements=[KAnonymity(k=k)]).anonymize(Microdata(frame, {**ROLES, **more}))


def statuses(policy: Policy, release: Release) -> dict[str, str]:
    return {line.key: line.status for line in policy.judge(release).lines}


def test_a_policy_that_everything_keeps_and_one_that_nothing_keeps() -> None:
    release = released()
    kept = Policy(name="Kind", levels={"k": 1, "l": 1.0, "t": 1.0}, risks={"reidentified-largest": {"at_most": 1.0}})
    judgement = kept.judge(release)
    assert (judgement.status, judgement.exit_code) == ("kept", 0)
    assert judgement.headline == "Kind: 4 of 4 rules are kept by what was measured."
    broken = Policy(
        name="Strict",
        levels={"k": 23, "l": 50.0, "t": 0.0, "largest_belief": 0.01},
        risks={"reidentified-largest": {"at_most": 0.01}, "discernibility": {"at_most": 1.0}},
        refuse={"columns": ["age"]},
    )
    judgement = broken.judge(release)
    assert {line.status for line in judgement.lines} == {"broken"}
    assert len(judgement.lines) == 7
    assert (judgement.exit_code, judgement.headline) == (1, "Strict: 7 of 7 rules are broken.")


def test_numbers_by_hand() -> None:
    """Two classes of eleven; in each 6 of 11 have one disease, of which the table has one half."""
    policy = Policy(
        name="Ours",
        levels={"k": 11, "l": 2.0, "t": 0.05, "largest_belief": 0.55},
        risks={"reidentified-largest": {"at_most": 0.0909}, "reidentified-mean": {"at_most": 0.091}},
    )
    lines = {line.key: line for line in policy.judge(released()).lines}
    assert {key: round(line.value, 4) for key, line in lines.items()} == {
        "levels.k": 11,
        "levels.l": round(11 / 6, 4),
        "levels.t": round(6 / 11 - 0.5, 4),
        "levels.largest_belief": round(6 / 11, 4),
        "risks.reidentified-largest": round(1 / 11, 4),
        "risks.reidentified-mean": round(1 / 11, 4),
    }
    assert {key: line.status for key, line in lines.items()} == {
        "levels.k": "kept",
        "levels.l": "broken",
        "levels.t": "kept",
        "levels.largest_belief": "kept",
        "risks.reidentified-largest": "broken",
        "risks.reidentified-mean": "kept",
    }
    assert lines["levels.l"].attribute == "disease"
    assert lines["risks.reidentified-largest"].sentence == "broken: Most findable person at most 9.09%: 9.09091%"


def test_a_line_for_every_secret_and_only_for_those_that_are_asked_about() -> None:
    frame = people().assign(wage=[1, 1, 2] * 7 + [2])
    data = Microdata(frame, {**ROLES, "wage": "sensitive"})
    release = Mondrian(requirements=[KAnonymity(k=22)]).anonymize(data)
    policy = Policy(name="Ours", levels={"k": 2, "l": 2.0}, risks={"max-share": {"at_most": 0.6}})
    lines = policy.judge(release).lines
    # 14 of 22 have the wage 1.
    assert [(line.key, line.attribute, line.status) for line in lines] == [
        ("levels.k", None, "kept"),
        ("levels.l", "disease", "kept"),
        ("levels.l", "wage", "broken"),
        ("risks.max-share", "disease", "kept"),
        ("risks.max-share", "wage", "broken"),
    ]
    assert policy.judge(release, secret="disease").status == "kept"
    for name in ("illness", "age"):
        with pytest.raises(DataError, match=f"no sensitive attribute '{name}'"):
            policy.judge(release, secret=name)


def test_what_holds_only_if_nobody_knows_a_column_is_not_kept() -> None:
    release = released(number="insensitive")
    policy = Policy(
        name="Ours",
        levels={"k": 11},
        risks={"reidentified-largest": {"at_most": 0.1}, "discernibility": {"at_most": 1e6}},
    )
    judgement = policy.judge(release)
    of_people, found, cost = judgement.lines
    assert {of_people.status, found.status} == {"only if nobody knows"}
    assert of_people.outcome == "only if nobody knows 'number'"
    assert cost.status == "kept"
    assert judgement.exit_code == 3
    assert judgement.headline == "Ours: 2 of 3 rules hold only if nobody knows 'number'."
    # A rule that is broken anyway stays so.
    assert Policy(name="Ours", levels={"k": 12}).judge(release).exit_code == 1


def test_a_limit_of_a_chance_alone_finds_columns_that_break_it() -> None:
    """With the column classes have five or six people: nobody is unique, and a chance of 1/5 is above 0.1."""
    frame = people().assign(half=[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1] * 2)
    data = Microdata(frame, {**ROLES, "half": "insensitive"})
    # Without a method that promised eleven, as a release made elsewhere.
    release = Release(data, Mondrian(requirements=[KAnonymity(k=11)]).anonymize(data).fragments)
    (line,) = Policy(name="Ours", risks={"reidentified-largest": {"at_most": 0.1}}).judge(release).lines
    assert line.columns == ("half",)
    (line,) = Policy(name="Ours", risks={"reidentified-largest": {"at_most": 0.2}}).judge(release).lines
    assert line.status == "kept"


def test_buckets_of_k_rows_keep_no_k() -> None:
    """Anatomy publishes ages as they are: whoever knows one finds its row, however large the bucket is."""
    release = Anatomy(l=2, seed=1).anonymize(Microdata(people(), ROLES))
    policy = Policy(name="Ours", levels={"k": 2}, risks={"k": {"at_least": 2.0}})
    for line in policy.judge(release).lines:
        assert (line.value, line.status) == (2, "broken")
        assert "fits 1 row at worst" in line.reason


def test_a_join_of_fragments_breaks_the_k_of_each() -> None:
    """Every class has two people who are alike; those of age 20 and of zip A have one flu in common: one person."""
    frame = pd.DataFrame({"age": [20, 20, 40, 40], "zip": list("ABAB"), "disease": ["flu", "cold", "gout", "flu"]})
    data = Microdata(frame, {"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})

    def fragment(name: str, groups: list[int]) -> Fragment:
        classes = Partition(groups)
        published = {one: Exact(data.domain[one], classes, data.codes[one]) for one in (name, "disease")}
        return Fragment(name, classes, published)

    release = Release(data, (fragment("age", [0, 0, 1, 1]), fragment("zip", [0, 1, 0, 1])))
    policy = Policy(name="Ours", levels={"k": 2})
    (line,) = policy.judge(release).lines
    assert (line.value, line.status) == (2, "broken")
    assert "join" in line.reason
    alone = Release(data, (fragment("age", [0, 0, 1, 1]),))
    assert policy.judge(alone).status == "kept"


def test_what_cannot_be_measured_is_never_kept() -> None:
    plain = Microdata(people()[["age"]], {"age": "quasi-identifier"})
    release = Mondrian(requirements=[KAnonymity(k=11)]).anonymize(plain)
    policy = Policy(
        name="Ours",
        levels={"l": 1.0, "largest_belief": 1.0},
        risks={
            "inference-difference": {"at_most": 1.0},
            "singling-out-difference": {"at_most": 1.0},
            "classification": {"at_least": 0.0},
            "composition-breach": {"at_most": 1.0},
            "strongest-attribute": {"at_most": 1.0},
        },
    )
    judgement = policy.judge(release)
    assert {line.status for line in judgement.lines} == {"not measured"}
    assert all(line.reason and math.isnan(line.value) for line in judgement.lines)
    assert judgement.exit_code == 3


def test_identifiers_are_looked_for_in_what_is_published() -> None:
    harbor = Policy.load("hipaa-safe-harbor")
    frame = people().assign(mail=[f"{row}@example.org" for row in range(22)])
    method = Mondrian(requirements=[KAnonymity(k=11)])
    left_out = method.anonymize(Microdata(frame, {"age": "quasi-identifier", "disease": "sensitive"}))
    assert statuses(harbor, left_out)["refuse.identifiers"] == "kept"
    decided = {"age": "quasi-identifier", "disease": "sensitive", "mail": "insensitive"}
    (line,) = (one for one in harbor.judge(method.anonymize(Microdata(frame, decided))).lines if one.status == "broken")
    assert (line.key, line.reached) == ("refuse.identifiers", "found: e-mail addresses in 'mail'")


def test_without_a_known_column_no_level_is_kept() -> None:
    data, classes = Microdata(people(), {"disease": "sensitive"}), Partition([0] * 22)
    published = {"disease": Exact(data.domain["disease"], classes, data.codes["disease"])}
    release = Release(data, (Fragment("release", classes, published),))
    judgement = Policy(name="Ours", levels={"k": 2, "t": 1.0}).judge(release)
    assert {line.status for line in judgement.lines} == {"not measured"}


def test_rows_of_a_synthetic_table_are_nobodys() -> None:
    data = Microdata(people(), ROLES)
    release = Release.from_published(people(), original=data, rows="synthetic")
    policy = Policy(name="Ours", levels={"k": 2}, risks={"k": {"at_least": 2.0}, "two-way-error": {"at_most": 0.5}})
    assert statuses(policy, release) == {
        "levels.k": "not measured",
        "risks.k": "not measured",
        "risks.two-way-error": "kept",
    }


def test_an_interval_beyond_the_limit_tells_nothing() -> None:
    number, limit = NUMBERS["linkability-difference"], Limit(at_most=0.05)
    for value, interval, status in (
        (0.0, (-0.02, 0.04), "kept"),
        (0.0, (-0.02, 0.06), "not measured"),
        (0.06, (-0.02, 0.1), "broken"),
        (0.0, None, "kept"),
    ):
        assert Measured(value, interval=interval).judged(number, limit)[0] == status
    least = Limit(at_least=0.5)
    assert Measured(0.6, interval=(0.4, 0.9)).judged(NUMBERS["classification"], least)[0] == "not measured"


@pytest.mark.slow
def test_few_people_cannot_show_that_an_attack_gets_no_more_than_its_control() -> None:
    data = Microdata(people(12).assign(sex=["f", "m"] * 6), {**ROLES, "sex": "quasi-identifier"})
    inside, outside = data.split(0.5, seed=1)
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(inside)
    policy = Policy(name="Ours", risks={"linkability-difference": {"at_most": 0.05}})
    (line,) = policy.judge(release).lines
    assert (line.status, math.isnan(line.value)) == ("not measured", True)
    (line,) = policy.judge(release, control=outside).lines
    assert line.status in ("not measured", "broken")
    assert not math.isnan(line.value)


def test_what_is_refused_is_looked_for_in_what_is_published() -> None:
    refuse = Refuse(columns=["Phone No", "fax"], free_text=True)
    published = judged_columns(refuse, ["phoneno", "age"])
    assert [(line.key, line.status) for line in published] == [
        ("refuse.columns.Phone No", "broken"),
        ("refuse.columns.fax", "kept"),
    ]
    notes = pd.DataFrame({"remarks": [f"told by person {row}" for row in range(12)], "age": range(12)})
    (found,) = judged_contents(Refuse(free_text=True), {"release": notes})
    assert (found.status, found.reached) == ("broken", "found: 'remarks'")
    (found,) = judged_contents(Refuse(free_text=True), {"release": notes[["age"]]})
    assert found.status == "kept"
    # A column that the release leaves out is not published.
    release = Mondrian(requirements=[KAnonymity(k=11)]).anonymize(Microdata(people().assign(phone=1), ROLES))
    assert Policy(name="Ours", refuse={"columns": ["phone"]}).judge(release).status == "kept"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_whose_it_is_and_judges_a_release(name: str) -> None:
    policy = Policy.load(name)
    assert policy.source
    assert policy.purpose == Policy.presets()[name]
    assert policy.purpose.endswith(".")
    judgement = policy.judge(released())
    assert len(judgement.lines) == len(policy.rules())
    assert [line.rule for line in judgement.lines] == list(policy.rules())
    assert Policy.loads(policy.to_toml()) == policy
    Draft202012Validator(Policy.schema()).validate(policy.to_dict())
    json.dumps(judgement.to_dict(), allow_nan=False)


def test_presets_are_the_files_that_ship() -> None:
    assert sorted(PRESETS) == sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_eleven_people_keep_what_health_agencies_ask() -> None:
    """1/11 is written 0.09 by both agencies; ten people are too few."""
    agencies = Policy.load("ema-policy-0070")
    assert agencies.risks["reidentified-largest"].at_most == 0.09
    assert agencies.judge(released(11)).exit_code == 0
    ten = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(Microdata(people(20), ROLES))
    assert {line.status for line in agencies.judge(ten).lines} == {"broken"}
    assert Policy.load("cms").judge(ten).exit_code == 1


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "it has no rule"),
        ({"levels": {}}, "it has no rule"),
        ({"context": {"recipient": "open"}}, "it has no rule"),
        ({"refuse": {"free_text": False}}, "it has no rule"),
        ({"levls": {"k": 3}}, "no key 'levls'.*Did you mean 'levels'"),
        ({"levels": {"kk": 3}}, r"\[levels\] has no key 'kk'.*'largest_belief'"),
        ({"levels": {"k": 0}}, "levels.k should be greater than or equal to 1, not 0"),
        ({"levels": {"k": True}}, "levels.k should be a valid integer"),
        ({"levels": {"k": "11"}}, "levels.k should be a valid integer"),
        ({"levels": {"t": 1.1}}, "levels.t should be less than or equal to 1"),
        ({"levels": {"t": math.nan}}, "levels.t should be a finite number"),
        ({"levels": {"c": 3.0, "l": 2.5}}, "l beside c is a whole number"),
        ({"levels": {"largest_belief": 0.0}}, "levels.largest_belief should be greater than 0"),
        ({"risks": {"reidentifed-largest": {"at_most": 0.1}}}, "did you mean 'reidentified-largest'"),
        ({"risks": {"attacks.reidentification": {"at_most": 0.1}}}, "tells several numbers.*'reidentified-mean'"),
        ({"risks": {"reidentified-largest": {"at_most": 9.0}}}, "reidentified-largest goes from 0 to 1"),
        ({"risks": {"k": {"at_most": 9.0}}}, "risks.k.*write at_least in place of at_most"),
        ({"risks": {"k": {"atmost": 9.0}}}, r"\[risks.k\] has no key 'atmost'.*'at_most'"),
        ({"risks": {"k": {}}}, "risks.k: write either at_most or at_least"),
        ({"levels": {"k": 3}, "context": {"recipient": "all"}}, "context.recipient should be 'open', 'contract'"),
        ({"levels": {"k": 3}, "format": 2}, "format should be 1, not 2"),
        ({"levels": {"k": 3}, "name": "  "}, "name: it is empty"),
        ({"levels": {"k": 3}, "name": "two\nlines"}, "name: it is one line"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_that_names_the_key(fields: dict, told: str) -> None:
    with pytest.raises(ParameterError, match=told) as raised:
        Policy(**{"name": "Ours", **fields})
    assert "\n" not in str(raised.value)


def test_files_that_are_no_policy(tmp_path) -> None:
    file = tmp_path / "policy.toml"
    for content, told in (
        (b"name = ", "not valid TOML"),
        (b"\xff", "not UTF-8"),
        (b"#" * 100_001, "longer than 100,000"),
        (b"a." * 300 + b"b = 1", "a key of more than 64 parts"),
        (b"[" * 90_000, "not valid TOML"),
        (b"levels = {k = 3}", "lacks 'name'"),
    ):
        file.write_bytes(content)
        with pytest.raises(ParameterError, match=told):
            Policy.load(file)
    with pytest.raises(ParameterError, match="cannot be read: no such file"):
        Policy.load(tmp_path / "other.toml")
    with pytest.raises(ParameterError, match="did you mean 'hipaa-safe-harbor'"):
        Policy.load("hippa-safe-harbor")


def test_the_file_of_the_documentation_of_the_format() -> None:
    policy = Policy.loads(
        """
        format = 1
        name = "Research under contract"
        source = "our data protection office, 2026-10"
        [context]
        recipient = "contract"
        [levels]
        k = 11
        l = 2
        largest_belief = 0.5
        [risks]
        "reidentified-largest" = { at_most = 0.09 }
        "strongest-attribute" = { at_most = 0.05 }
        [refuse]
        columns = ["fnlwgt"]
        free_text = true
        """
    )
    assert policy.context.sentence == RECIPIENTS["contract"]
    assert list(policy.risks) == ["reidentified-largest", "strongest-attribute"]
    assert len(policy.rules()) == 7
    # Not rounded, 1/11 lies above 0.09: twelve people are needed.
    assert policy.risks["reidentified-largest"].group_size() == 12


def test_the_size_of_a_group_that_a_chance_asks_for_is_the_smallest_that_keeps_it() -> None:
    for percent in range(1, 101):
        for decimals in (None, 2):
            limit = Limit(at_most=percent / 100, decimals=decimals)
            slow = next(size for size in range(1, 300) if limit.keeps(1 / size))
            assert limit.group_size() == slow, limit


def test_what_a_search_aims_at() -> None:
    policy = Policy(
        name="Ours",
        levels={"k": 5, "l": 2.0, "t": 0.2, "largest_belief": 0.4},
        risks={"reidentified-largest": {"at_most": 0.09, "decimals": 2}, "inference-difference": {"at_most": 0.1}},
    )
    assert policy_targets(policy) == (
        Target("k", 5),
        Target("max-share", 0.5),
        Target("t", 0.2),
        Target("largest-belief", 0.4),
        Target("reidentified-largest", 1 / 11),
    )
    assert policy_targets(Policy(name="Ours", levels={"c": 3.0, "l": 2.0})) == ()


def test_the_worst_rule_is_the_status_of_all() -> None:
    lines = {status: JudgedRule("levels.k", "k", None, "", "", status) for status in CODES}
    for worst, others in (
        ("broken", ("kept", "not measured", "only if nobody knows")),
        ("not measured", ("kept", "only if nobody knows")),
        ("only if nobody knows", ("kept",)),
    ):
        judgement = Judgement("Ours", "", "", (*(lines[one] for one in others), lines[worst]))
        assert (judgement.status, judgement.exit_code) == (worst, CODES[worst])
        assert "kept" not in judgement.headline
    assert Judgement("Ours", "", "", ()).exit_code == 3


def test_the_schema_knows_every_measure_and_refuses_what_a_policy_refuses() -> None:
    schema = Policy.schema()
    assert schema["properties"]["risks"]["propertyNames"]["enum"] == list(NUMBERS)
    wrong = [{"name": "x", "levls": {}}, {"name": "x", "levels": {"k": 0}}, {"name": "x", "risks": {"k-": {}}}, {}]
    assert not any(Draft202012Validator(schema).is_valid(one) for one in wrong)
