"""Whole small tables through every algorithm, its measures, files and certificate; every promise checked plainly."""

from __future__ import annotations

import io
from math import inf
from typing import Any

from anoncore import AnonymizationError, Release
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.measures import criteria
from anoncore.measures.evaluation import MEASURES, Measure
from anoncore.privacy.explain import explain
from anoncore.publishing import certify, verify
from anoncore.publishing.certification.input_hash import new_key
from anoncore.publishing.export import write_tables
from anoncore.publishing.report import Subject, report
from anoncore.release.mapping import value_mapping
from anoncore.requirements import KAnonymity
from tests.fuzz.case import Case, RefutedError, sentence_fault
from tests.fuzz.parameters import form_fields
from tests.fuzz.plain import check_identifiers, check_promises
from tests.fuzz.tables import small_table
from tests.properties.subjects import EVERYWHERE, PARAMETERS

KEY = new_key()
SLOW = ("utility.classification", "utility.classification_estimate", "attacks.possible_worlds")


def release(case: Case) -> None:
    """A release, if the table allows one, and all that is asked of it afterwards."""
    data = small_table(case)
    algorithm = case.keep("algorithm", any_algorithm(case))
    made = algorithm.anonymize(data)
    check_promises(made, algorithm.promises(data))
    check_identifiers(made, ["Person-", "-of-file"])
    _numbers(case, made)
    _taken_away(case, made)


def any_algorithm(case: Case) -> Algorithm:
    """An algorithm with parameters that often suit a small table, else with any that its form gives."""
    name = case.pick(EVERYWHERE)
    model = ALGORITHMS[name]
    if case.chance(0.6):
        fields: dict[str, Any] = dict(case.pick(PARAMETERS.get(name, [{}])))
        if "requirements" in model.model_fields:
            fields.setdefault("requirements", (KAnonymity(k=case.pick((1, 2, 3))),))
        if "k" in model.model_fields and "k" not in fields:
            fields["k"] = 2
    else:
        fields = form_fields(case, model)
    if "seed" in model.model_fields:
        fields["seed"] = case.pick((None, 0, 7))
    return model(**fields)


def _numbers(case: Case, made: Release) -> None:
    """Criteria, and one measure with arguments that may fit or not; they answer, or say in a sentence why not."""
    quick = [name for name, one in criteria.CRITERIA.items() if not one.is_slow or case.chance(0.1)]
    for name, value in criteria.evaluate(made, quick).items():
        if isinstance(value, AnonymizationError):
            fault = sentence_fault(str(value))
            if fault:
                raise RefutedError(f"{name}: {fault}")
            continue
        low, high = criteria.CRITERIA[name].bounds
        if not (-inf if low is None else low) - 1e-9 <= value <= (inf if high is None else high) + 1e-9:
            raise RefutedError(f"{name} is {value}, not between {low} and {high}")
    name = case.pick([one for one in MEASURES if one not in SLOW or case.chance(0.05)])
    arguments: dict[str, Any] = {}
    if case.chance(0.5):
        arguments = {"attribute": case.pick((*made.data.attributes, "no such"))}
    _tolerated(lambda: Measure(name, case.keep("measure", (name, arguments))[1]).evaluate(made))


def _tolerated(work: Any) -> Any:
    """The result, or None where the library says in a sentence why there is none."""
    try:
        return work()
    except AnonymizationError as error:
        fault = sentence_fault(str(error))
        if fault:
            raise RefutedError(fault) from None
        return None


def _taken_away(case: Case, made: Release) -> None:
    """Files with a certificate that verifies, the mapping, now and then a report and an explanation."""
    value_mapping(made)
    if case.chance(0.03):
        text = _tolerated(lambda: report([Subject("it", made)]))
        if text is not None and "Person-" in text:
            raise RefutedError("the report names a person")
    if case.chance(0.2):
        _tolerated(lambda: explain(made, made.algorithm.promises(made.data)))
    if not case.chance(0.4):
        return
    format_ = case.keep("format", case.pick(("csv", "parquet", "excel")))
    tables, content = made.tables(), io.BytesIO()
    write_tables(tables, content, format_)
    files = {"file": content.getvalue()}
    made_of = _tolerated(lambda: certify(made, KEY, files, tables=tables))
    if made_of is None:
        return
    found = verify(made_of, {"file": content.getvalue()}, data=made.data, key=KEY)
    if found.of("fails"):
        raise RefutedError("; ".join(one.sentence for one in found.of("fails")))
