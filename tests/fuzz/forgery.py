"""Edits of certificates and files by somebody who knows the code and wants a false statement to be believed.

Each takes a genuine release and gives a forged one. Whether it says something false is judged by `plain_reader`, which
counts in the cells; some say what is false whatever the cells are, such as a k above the number of rows, or publish
something beside the tables, and are marked so.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore import AnonymizationError, Microdata, Partition, Release
from anoncore.publishing import certify, new_key, write_tables
from anoncore.publishing.certification.digests import PartDigester, joined_digest, rows_digest
from anoncore.publishing.signing.signature import FORM
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment
from anoncore.requirements import REQUIREMENTS
from anoncore.sources.parquet import coded_table, coded_writer
from tests.fuzz.case import Case
from tests.fuzz.honest import CERTIFICATE, ENDINGS, FORMATS, Folder, in_parts, people
from tests.publishing.certification.forging import restated
from tests.publishing.certification.smuggling import WAYS, DoesNotApplyError

CANARY = "P7:hiv"
REASONS = (
    "which rows of the tables belong to one person is what the release hides",
    "numbers stand in place of cells that are suppressed",
    "no table can show how much noise went into it; it is the promise of the method that made it",
    "people were counted by 'who', which is not published",
    "single values of 'age' are not published",
    "the original distribution of 'illness' is not published",
    "the files write different values or groups alike",
    f"{CANARY} holds",
    "",
)
ESCAPES = ("\r\x1b[2K", "\x1b]0;holds\x07", "\n", "\x9b2K", "\u202e", "\u2028", "\x00", "\x08" * 9, "\x1b[1A\x1b[2K")
HOLDS = "The certificate holds: of 9 checks 9 hold, 0 fail, 0 could not be made."


@dataclass(frozen=True)
class Forgery:
    """A forged release: what was edited, and why it is false or hides something whatever its cells say (else empty).

    `told` is what a verifier has to say where it accepts the release.
    """

    folder: Folder
    edits: tuple[str, ...]
    wrong: str = ""
    told: str = ""


class DoesNotFitError(Exception):
    """The genuine release has nothing that the edit is about."""


Edit = Callable[[Case, Folder], Forgery]
EDITS: dict[str, Edit] = {}


def edit(function: Edit) -> Edit:
    """Add an edit by the name of its function."""
    EDITS[function.__name__.strip("_")] = function
    return function


def _changed(folder: Folder, claims: Mapping[str, Any], what: str, wrong: str = "") -> Forgery:
    return Forgery(folder.claiming(claims), (what,), wrong)


def _requirement(fields: Mapping[str, Any], attribute: str | None, shown: bool, reason: str) -> dict[str, Any]:
    """A claim with all that belongs to it, as the program writes it."""
    requirement = REQUIREMENTS.build(dict(fields))
    return {
        "rechecked": shown,
        "reason": reason,
        "requirement": json.loads(json.dumps(requirement.to_dict())),
        "label": requirement.label(),
        "source": requirement.source,
        "attribute": attribute,
        "comparison": "at most" if {"t", "beta"} & set(fields) else "at least",
        "asked": requirement.threshold,
        "reached": requirement.threshold if shown else None,
    }


def _any_requirement(case: Case, attribute: str | None) -> dict[str, Any]:
    fields: list[dict[str, Any]] = [{"name": "k-anonymity", "k": case.pick((2, 4, 5, 10, 30, 1000, 10**9))}]
    if attribute is not None:
        fields += [
            {"name": "distinct-diversity", "l": case.pick((2, 3, 4, 100))},
            {"name": "frequency-diversity", "l": case.pick((1.5, 2.0, 3.0, 100.0))},
            {"name": "entropy-diversity", "l": case.pick((1.5, 3.0, 100.0))},
            {"name": "beta-likeness", "beta": case.pick((0.0, 0.5, 3.0))},
            {"name": "t-closeness", "t": case.pick((0.0, 0.01, 0.2)), "ground": case.pick(("equal", "ordered"))},
        ]
    chosen = case.pick(fields)
    shown = case.chance(0.5)
    return _requirement(
        chosen, None if chosen["name"] == "k-anonymity" else attribute, shown, "" if shown else case.pick(REASONS)
    )


def _secret(claims: Mapping[str, Any]) -> str | None:
    return next((one["name"] for one in claims["attributes"] if one["role"] == "sensitive"), None)


def _too_much(claim: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
    """Why a claim can hold of no table of this size; empty where it can."""
    rows = max(one["rows"] for one in claims["tables"])
    name, asked = claim["requirement"]["name"], claim["asked"]
    if name in ("t-closeness", "beta-likeness"):
        return ""
    return f"{claim['label']} of {rows} rows" if asked > rows else ""


@edit
def _adds_a_claim(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    claim = _any_requirement(case, _secret(claims))
    claims["requirements"].append(claim)
    return _changed(
        folder,
        claims,
        f"claims {claim['label']}, rechecked {claim['rechecked']}: {claim['reason']}",
        _too_much(claim, claims),
    )


@edit
def _replaces_the_claims(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    claim = _any_requirement(case, _secret(claims))
    claims["requirements"], claims["people"], claims["not_checked"] = [claim], [], []
    return _changed(
        folder,
        claims,
        f"claims only {claim['label']}, rechecked {claim['rechecked']}: {claim['reason']}",
        _too_much(claim, claims),
    )


@edit
def _hides_what_is_known(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    told = []
    for one in claims["attributes"]:
        if one["role"] == "quasi-identifier" and case.chance(0.6):
            one["role"] = case.pick(("insensitive", "identifier", "insensitive"))
            told.append(f"{one['name']} is {one['role']}")
    if not told:
        raise DoesNotFitError
    for name in ("decided", "over_all", "breaking", "not_asked", "untagged"):
        claims.pop(name, None)
    if case.chance(0.6):
        claims["requirements"].append(_any_requirement(case, _secret(claims)))
    wrong = next((fault for one in claims["requirements"] if (fault := _too_much(one, claims))), "")
    return _changed(folder, claims, "; ".join(told), wrong)


@edit
def _says_nothing_of_decided_columns(_case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    if not claims.get("breaking"):
        raise DoesNotFitError
    for name in ("decided", "over_all", "breaking", "not_asked"):
        claims.pop(name, None)
    return _changed(folder, claims, "takes away what it says of columns that are published by decision")


@edit
def _counts_people(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    claims["unit"] = {"column": "who", "people": case.pick((1, 60, 10**9)), "about": CANARY}
    for one in claims["requirements"]:
        one["rechecked"], one["reason"] = False, "people were counted by 'who', which is not published"
    claim = _any_requirement(case, _secret(claims)) | {"rechecked": False, "reason": REASONS[3]}
    claims["requirements"].append(claim)
    return _changed(folder, claims, f"says that people were counted, and {claim['label']}", _too_much(claim, claims))


@edit
def _promises_epsilon(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    shown = case.chance(0.5)
    claims["people"] = [
        *(claims.get("people") or []),
        {
            "rechecked": shown,
            "reason": "" if shown else case.pick(REASONS),
            "attribute": case.pick((None, _secret(claims))),
            "asked": 1.0,
            "source": "Dwork 2006",
            "sentence": f"Differential privacy with epsilon = 0.1 holds for everybody ({CANARY}).",
        },
    ]
    return _changed(folder, claims, f"promises epsilon, rechecked {shown}", "nothing here was made with an epsilon")


@edit
def _raises_joins(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    common = _secret(claims)
    if common is None or claims.get("linked_by"):
        raise DoesNotFitError
    shown = case.chance(0.5)
    claims["joins"] = (claims.get("joins") or {"common": common, "delta": None, "source": "x"}) | {
        "k": 10**6,
        "l": 4,
        "rechecked": shown,
        "reason": "" if shown else case.pick(REASONS),
    }
    return _changed(folder, claims, f"joins of 1,000,000 rows, rechecked {shown}", "no join has a million rows")


@edit
def _raises_what_is_asked(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    if not claims["requirements"]:
        raise DoesNotFitError
    place = case.random.randrange(len(claims["requirements"]))
    old = claims["requirements"][place]
    fields = dict(old["requirement"])
    for name, values in {"k": (7, 1000), "l": (4, 900), "t": (0.0,), "c": (0.01,), "v": (10**9,)}.items():
        if name in fields and isinstance(fields[name], int | float):
            fields[name] = case.pick(values)
    kind = case.random.randrange(3)
    try:
        new = REQUIREMENTS.build(fields)
    except AnonymizationError:
        raise DoesNotFitError from None
    if kind == 0:
        old |= {"requirement": fields, "label": new.label(), "asked": new.threshold, "reached": new.threshold}
    elif kind == 1:
        old |= {"label": new.label(), "asked": new.threshold}
    else:
        old |= {"requirement": fields}
    wrong = _too_much({**old, "asked": new.threshold}, claims)
    return _changed(folder, claims, f"raises {old['label']} ({('all of it', 'its label', 'its fields')[kind]})", wrong)


@edit
def _changes_forms(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    entry = case.pick([one for one in claims["attributes"] if one.get("form")])
    change = case.pick(
        (
            {"form": "set"},
            {"form": "region"},
            {"form": "changed"},
            {"protected": []},
            {"protected": ["no such value"]},
            {"values": ["flu"]},
            {"values": []},
            {"kind": "numeric"},
            {"hierarchy": [["flu", "all"], ["cold", "all"], ["gout", "all"], ["+pox", "all"]]},
            {"part_of": "illness"},
        )
    )
    entry |= change
    claims["requirements"].append(_any_requirement(case, _secret(claims)))
    wrong = next((fault for one in claims["requirements"] if (fault := _too_much(one, claims))), "")
    return _changed(folder, claims, f"'{entry['name']}' becomes {change}", wrong)


@edit
def _links(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    columns = [name for table in claims["tables"] for name in table["columns"]]
    claims["linked_by"] = case.pick([None, *columns, "group", "no such"])
    claims["requirements"].append(_any_requirement(case, _secret(claims)))
    wrong = next((fault for one in claims["requirements"] if (fault := _too_much(one, claims))), "")
    return _changed(folder, claims, f"links by {claims['linked_by']!r}", wrong)


@edit
def _hides_a_table(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    if len(claims["tables"]) < 2:
        raise DoesNotFitError
    gone = claims["tables"].pop(case.random.randrange(len(claims["tables"])))
    return _changed(folder, claims, f"does not name the table {gone['name']}", "a published table is not certified")


@edit
def _other_numbers(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    table = case.pick(claims["tables"])
    kind = case.random.randrange(5)
    if kind == 0:
        table["groups"] = 1 if table["groups"] > 1 else 2
    elif kind == 1:
        table["group_sizes"] = {str(table["rows"] + 1): 1}
    elif kind == 2:
        table["rows"] += 1
    elif kind == 3:
        for one in claims["requirements"]:
            one["reached"] = 10**6
        if not claims["requirements"]:
            raise DoesNotFitError
    else:
        table["sha256"] = "0" * 64
    return _changed(folder, claims, f"other numbers ({kind})", "a number of the certificate is not that of the tables")


@edit
def _numbers_out_of_range(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    kind = case.random.randrange(7)
    entry = claims["files"][0] if claims.get("files") else claims["tables"][0]
    value = case.pick((float("nan"), float("inf"), -float("inf"), -1, True, "60", 60.5, 10**400))
    if kind == 0:
        entry["bytes" if "bytes" in entry else "rows"] = value
    elif kind == 1:
        claims["tables"][0]["rows"] = value
    elif kind == 2:
        claims["input"]["rows"] = value
    elif kind == 3:
        claims["tables"][0]["group_sizes"] = {"60": value}
    elif kind == 4:
        if not claims["requirements"]:
            raise DoesNotFitError
        claims["requirements"][0]["asked"] = value if not isinstance(value, int) or isinstance(value, bool) else -1
    elif kind == 5:
        claims["version"] = case.pick((0, 99, -1, True, "1", 1.5))
        value = claims["version"]
    else:
        claims["tables"][0]["sha256"] = case.pick(("", "zz", None, 5))
        value = claims["tables"][0]["sha256"]
    return _changed(folder, claims, f"a number out of range ({kind}): {str(value)[:20]!r}", "a field has no such value")


@edit
def _unknown_fields(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    targets = [
        claims,
        claims["tables"][0],
        claims["attributes"][0],
        *claims["requirements"][:1],
        *(claims.get("files") or [])[:1],
        claims["input"],
    ]
    case.pick(targets)[case.pick(("note", "Rechecked", "role ", "\u202e", "a" * 3000))] = CANARY
    return _changed(folder, claims, "a field that no certificate has", "a certificate has no such field")


@edit
def _keys_twice(case: Case, folder: Folder) -> Forgery:
    text = folder.text.decode()
    places = list(re.finditer(r'(?<=[{,\n ])"(\w+)":', text))
    place = case.pick(places)
    other = case.pick(('"x"', "[]", "{}", "null", "0", "1000", "false", "true", f'"{CANARY}"'))
    if case.chance(0.5):
        text = f"{text[: place.start()]}{place[0]} {other}, {text[place.start() :]}"
    else:
        key = case.pick(
            [one for one in ("requirements", "people", "breaking", "linked_by", "attributes") if one in folder.claims]
        )
        text = text.rstrip()[:-1] + f', "{key}": {json.dumps(folder.claims.get(key))}}}'
        place = re.search(r".*", key) or place
    return Forgery(
        folder.with_files({folder.certificate: text.encode()}),
        (f"the key {place[0]} twice",),
        "a key stands there twice",
    )


@edit
def _escapes(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    mark = case.pick(ESCAPES) + HOLDS
    places: list[tuple[Any, str]] = [(claims, "made"), (claims["input"], "about")]
    places += [(one, name) for one in claims["requirements"] for name in ("reason", "label", "source", "comparison")]
    places += [(one, "name") for one in claims["tables"]] + [
        (one, name) for one in claims.get("people") or () for name in ("sentence", "reason")
    ]
    places += [(one, "name") for one in claims.get("files") or ()] + [
        (one, "sentence") for one in claims.get("decided") or ()
    ]
    places += [(claims, "breaking")] + (
        [(claims["method"], "title"), (claims["method"], "name")] if claims.get("method") else []
    )
    places += [(one, "name") for one in claims["attributes"]]
    target, name = case.pick(places)
    target[name] = f"{target.get(name) or ''}{mark}"
    for one in claims["requirements"]:
        if target is one and name == "reason":
            one["rechecked"] = False
    return _changed(folder, claims, f"{mark[:12]!r} in {name}")


@edit
def _an_older_format(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    claims["version"] = 1
    for name in ("decided", "over_all", "breaking", "not_asked", "written"):
        claims.pop(name, None)
    for table in claims["tables"]:
        table.pop("written", None)
    if case.chance(0.5):
        claims["requirements"].append(_any_requirement(case, _secret(claims)))
    wrong = next((fault for one in claims["requirements"] if (fault := _too_much(one, claims))), "")
    return _changed(folder, claims, "looks like a certificate of an earlier version", wrong)


@edit
def _a_later_name_for_an_old_field(_case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    if "decided" not in claims:
        raise DoesNotFitError
    claims["untagged"] = []
    return _changed(folder, claims, "a field by two names", "a field stands there by two names")


# Files.


def _with_file_hashes(claims: dict[str, Any], files: Mapping[str, bytes]) -> None:
    """Put the hashes of files as they are now into a certificate, those of new files too."""
    entries = {one["name"]: one for one in claims.get("files") or ()}
    for name, content in files.items():
        if name in entries:
            entries[name] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _listed(claims: dict[str, Any], name: str, content: bytes) -> None:
    claims.setdefault("files", []).append(
        {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    )


RAW = people().head(12).to_csv(index=False).encode() + CANARY.encode()


@edit
def _something_in_a_file(case: Case, folder: Folder) -> Forgery:
    """A comment, metadata, a hidden sheet and the like, with the file's hash made anew."""
    name = case.pick(sorted(folder.tables))
    content = folder.files[name]
    kind = "parquet" if content.startswith(b"PAR1") else "excel" if b"xl/workbook.xml" in content else "csv"
    way = case.pick([one for one in WAYS if kind in one.formats and one.content is not None])
    try:
        changed = way.content(content)
    except (DoesNotApplyError, StopIteration, IndexError, KeyError, ValueError, AssertionError, zipfile.BadZipFile):
        raise DoesNotFitError from None
    if changed == content:
        raise DoesNotFitError
    claims = folder.claims
    if case.chance(0.8):
        _with_file_hashes(claims, {name: changed})
    forged = folder.claiming(claims).with_files({name: changed})
    return Forgery(forged, (f"{way.name} in {name}",), "a file holds something beside its tables")


@edit
def _metadata_of_a_part(case: Case, folder: Folder) -> Forgery:
    names = [name for name in folder.tables if name.endswith(".parquet")]
    if not names:
        raise DoesNotFitError
    name = case.pick(names)
    table = pq.read_table(io.BytesIO(folder.files[name]))
    content = io.BytesIO()
    kind = case.random.randrange(4)
    if kind == 0:
        pq.write_table(table.replace_schema_metadata({"original": RAW}), content)
    elif kind == 1:
        column = table.schema.names[0]
        field = table.schema.field(0).with_metadata({"who": CANARY})
        pq.write_table(table.set_column(0, field, table.column(column)), content)
    elif kind == 2:
        padded = folder.files[name]
        content.write(padded[:4] + RAW + padded[4:])
    else:
        column = case.random.randrange(len(table.schema.names))
        values = table.column(column).combine_chunks()
        if not pa.types.is_string(values.type) and not pa.types.is_large_string(values.type):
            raise DoesNotFitError
        coded = values.dictionary_encode()
        spare = pa.DictionaryArray.from_arrays(
            coded.indices, pa.concat_arrays([coded.dictionary, pa.array([CANARY], coded.dictionary.type)])
        )
        pq.write_table(table.set_column(column, table.schema.names[column], spare), content, use_dictionary=True)
    changed = content.getvalue()
    if CANARY.encode() not in changed:
        raise DoesNotFitError
    claims = folder.claims
    _with_file_hashes(claims, {name: changed})
    forged = folder.claiming(claims).with_files({name: changed})
    return Forgery(forged, (f"metadata or spare bytes ({kind}) in {name}",), "a part holds something beside its rows")


@edit
def _more_files(case: Case, folder: Folder) -> Forgery:
    """A raw table beside the others: listed in the certificate, in a folder, or under a name that is passed over."""
    name = case.pick(
        (
            "original.csv",
            "_original.csv",
            ".hidden",
            "notes/raw.csv",
            f"sub/{folder.certificate}",
            "README.md",
            "_SUCCESS",
            "part-99999.csv",
            "x/part-00000.parquet",
            "_metadata",
        )
    )
    content = case.pick((RAW, folder.files[sorted(folder.tables)[0]])) if "/" not in name else RAW
    claims = folder.claims
    listed = case.chance(0.6)
    if listed:
        _listed(claims, name.rpartition("/")[2], content)
    forged = folder.claiming(claims).with_files({name: content})
    return Forgery(
        forged, (f"a file {name}{' listed' if listed else ''}",), "a file is there that holds something else"
    )


@edit
def _a_link(case: Case, folder: Folder) -> Forgery:
    name = case.pick(("more.csv", "part-00099.parquet", "link"))
    claims = folder.claims
    if case.chance(0.5):
        _listed(claims, name, RAW)
    forged = folder.claiming(claims)
    return Forgery(
        Folder(forged.certificate, forged.files, forged.about, {name: RAW}),
        (f"a link {name}",),
        "a link leads to another file",
    )


@edit
def _telling_names(case: Case, folder: Folder) -> Forgery:
    """Parts in a folder, or under a name, that says who has what."""
    if not folder.is_in_parts:
        raise DoesNotFitError
    old = case.pick(sorted(folder.tables))
    new = case.pick(("P7-has-hiv.parquet", "P7=hiv/" + old, f"{CANARY}.parquet"))
    claims = folder.claims
    for entry in (*(claims.get("files") or ()), *(claims.get("parts") or ())):
        for name in ("name", "file"):
            if entry.get(name) == old:
                entry[name] = new.rpartition("/")[2]
    forged = folder.claiming(claims).with_files({old: None, new: folder.files[old]})
    return Forgery(forged, (f"{old} is called {new}",), "a name tells who has what")


@edit
def _another_description(case: Case, folder: Folder) -> Forgery:
    """Original rows in a file of a large run that describes it."""
    names = [name for name in folder.tables if name.endswith(".json")]
    if not names:
        raise DoesNotFitError
    name = case.pick(names)
    held = json.loads(folder.files[name])
    kind = case.random.randrange(3)
    if kind == 0 and isinstance(held, dict):
        held[case.pick(("note", *held))] = CANARY
    content = (json.dumps(held).encode(), RAW, folder.files[name] + CANARY.encode())[kind]
    claims = folder.claims
    _with_file_hashes(claims, {name: content})
    forged = folder.claiming(claims).with_files({name: content})
    return Forgery(forged, (f"other content of {name} ({kind})",), "a file beside the tables holds something else")


@edit
def _signs_it(case: Case, folder: Folder) -> Forgery:
    """A signature that somebody copied, or made up."""
    claims = folder.claims
    entry = {
        "algorithm": "Ed25519",
        "key": base64.b64encode(case.random.randbytes(32)).decode(),
        "made": "2026-01-01T00:00:00+00:00",
        "form": case.pick((FORM, CANARY, "")),
        "value": base64.b64encode(case.random.randbytes(64)).decode(),
    }
    kind = case.random.randrange(4)
    if kind == 0:
        entry["key"] = case.pick(("", "A" * 44, CANARY))
    elif kind == 1:
        entry["name"] = CANARY
    claims["signatures"] = [entry] * case.pick((1, 1, 2)) if kind != 2 else case.pick(({}, "x", 5, [5], [entry] * 200))
    return _changed(folder, claims, f"a signature that is none ({kind})", "nobody signed it")


@edit
def _time_stamps(case: Case, folder: Folder) -> Forgery:
    """Times of the members of a zip or workbook that spell something."""
    names = [name for name, content in folder.tables.items() if content.startswith(b"PK")]
    if not names:
        raise DoesNotFitError
    name = case.pick(names)
    again = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(folder.files[name])) as archive,
        zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        start = case.pick(((2024, 5, 1, 0, 0, 0), (1980, 1, 1, 0, 0, 0), (2024, 5, 1, 10, 20, 0)))
        for place, member in enumerate(archive.infolist()):
            letter = ord(CANARY[place % len(CANARY)])
            info = zipfile.ZipInfo(member.filename, (*start[:4], start[4] + letter // 30 % 30, 2 * (letter % 30)))
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, member.external_attr
            if case.chance(0.5):
                info.external_attr = 0o600 << 16
            new.writestr(info, archive.read(member))
    content = again.getvalue()
    claims = folder.claims
    _with_file_hashes(claims, {name: content})
    return Forgery(
        folder.claiming(claims).with_files({name: content}), (f"time stamps in {name}",), "time stamps spell something"
    )


@edit
def _cells(case: Case, folder: Folder) -> Forgery:
    """Cells changed without the hashes of the tables."""
    names = [
        name
        for name, content in folder.tables.items()
        if not content.startswith(b"PK") and not name.endswith(".parquet")
    ]
    if not names:
        raise DoesNotFitError
    name = case.pick(names)
    lines = folder.files[name].split(b"\r\n")
    row = case.random.randrange(1, len(lines) - 1)
    lines[row] = case.pick(
        (lines[case.random.randrange(1, len(lines) - 1)], lines[row].replace(b"flu", b"cold"), lines[row] + b" ")
    )
    content = b"\r\n".join(lines)
    if content == folder.files[name]:
        raise DoesNotFitError
    claims = folder.claims
    _with_file_hashes(claims, {name: content})
    return Forgery(
        folder.claiming(claims).with_files({name: content}),
        (f"row {row} of {name}",),
        "a row is not the one that was certified",
    )


# Other tables, with all hashes made anew by the program itself.


@edit
def _other_people(case: Case, folder: Folder) -> Forgery:
    """Original rows under roles of the forger's choice, with hashes that fit and the claims of a genuine release."""
    frame = people()
    columns = [
        "age",
        "town",
        "since",
        "illness",
        *case.random.sample(["visits", "note", "name"], case.random.randint(0, 2)),
    ]
    frame = frame[columns].sample(frac=1, random_state=case.random.randrange(10**6)).reset_index(drop=True)
    frame["constant"] = "x"
    split = case.random.randrange(4)
    roles = {name: case.pick(("quasi-identifier", "insensitive", "insensitive", "sensitive")) for name in columns}
    roles |= {"illness": "sensitive", "constant": "quasi-identifier"}
    sides = {
        0: [[*columns, "constant"]],
        1: [columns, ["constant"]],
        2: [[name for name in columns if name != "illness"], ["illness", "constant"]],
        3: [columns, ["illness", "constant"]],
    }[split]
    shared = split in (1, 2) and case.chance(0.8)
    size = case.pick((3, 5, 12))
    group = np.arange(len(frame)) // size
    data = Microdata(frame, roles=roles)
    joined = Partition(group.astype(np.int32))
    fragments = []
    for number, side in enumerate(sides):
        # Tables are joined where they have one and the same partition.
        partition = joined if shared else Partition(np.arange(len(frame), dtype=np.int32))
        recodings = {name: Exact(data.domain[name], partition, data.codes[name]) for name in side}
        fragments.append(Fragment(f"table{number}", partition, recodings))
    release = Release(data, tuple(fragments))
    format_: Any = case.pick(FORMATS)
    tables = release.pandas_tables()
    content = io.BytesIO()
    write_tables(tables, content, format_)
    name = f"people{'.zip' if len(tables) > 1 and format_ != 'excel' else ENDINGS[format_]}"
    files = {name: content.getvalue()}
    try:
        claims = json.loads(certify(release, new_key(), files, tables=tables).dumps())
    except AnonymizationError:
        raise DoesNotFitError from None
    told = _dressed_up(case, claims, folder.claims)
    forged = Folder(CERTIFICATE, {name: content.getvalue(), CERTIFICATE: b""}, "original rows").claiming(claims)
    wrong = next((fault for one in claims["requirements"] if (fault := _too_much(one, claims))), "")
    return Forgery(forged, (f"{format_}: tables {sides}, {'joined' if shared else 'apart'}; {roles}; {told}",), wrong)


def _dressed_up(case: Case, claims: dict[str, Any], genuine: Mapping[str, Any]) -> str:
    """Claims of a genuine release, or of the forger's own, over tables that do not keep them."""
    for name in ("decided", "over_all", "breaking", "not_asked"):
        claims.pop(name, None)
    own = _any_requirement(case, "illness")
    kind = case.random.randrange(3)
    if kind == 0 and genuine["requirements"]:
        claims["requirements"] = copy.deepcopy(genuine["requirements"])
        claims["people"], claims["method"] = copy.deepcopy(genuine.get("people") or []), genuine.get("method")
    else:
        claims["requirements"] = [own]
        claims["method"] = genuine.get("method")
    claims["not_checked"] = []
    if case.chance(0.4):
        for entry in claims["attributes"]:
            if entry["name"] != "illness" and entry["role"] == "quasi-identifier" and entry["name"] != "constant":
                entry["role"] = "insensitive"
    if case.chance(0.2) and claims["linked_by"] is None:
        columns = claims["tables"][0]["columns"]
        claims["linked_by"] = case.pick(columns)
        for table in claims["tables"]:
            for place in (table, *(table.get("written") or {}).values()):
                place.get("column_sha256", {}).pop(claims["linked_by"], None)
    return f"claims {[one['label'] for one in claims['requirements']]}, linked by {claims['linked_by']}"


@edit
def _other_people_in_parts(case: Case, folder: Folder) -> Forgery:
    """A large run over original rows that are all tagged as insensitive, dressed up."""
    roles = {"constant": "quasi-identifier", "illness": "sensitive"}
    roles |= dict.fromkeys(("age", "town", "since"), "insensitive")
    forged = in_parts("rothko-tree", 3, tuple(sorted(roles.items())))
    claims = forged.claims
    told = _dressed_up(case, claims, in_parts().claims if case.chance(0.5) else folder.claims)
    wrong = next((fault for one in claims["requirements"] if (fault := _too_much(one, claims))), "")
    return Forgery(forged.claiming(claims), (f"original rows in parts; {told}",), wrong)


# Cells as a reader sees them, and what is asked of which column.

SPELLINGS = (
    ("30", "30.0", "30.00", "3e1", "3.0E1"),
    ("30.0000000000000010", "30.0000000000000011", "30.0000000000000012"),
    ("2020-01-01", "2020-01-01 00:00", "2020-01-01T00:00:00", "2020-01-01 00:00:00.0"),
    ("-x", "'-x", "''-x"),
    *((f"={mark}x", f"'={mark}x", f"''={mark}x") for mark in ("\x1b[2K", "\x1b]0;holds\x07", "\u202e", "\x9b2K")),
)
"""Cells that stand for one value in several ways, by which a reader tells rows apart."""
READ_ALIKE = (
    ("HIV", "hiv", "HIV ", "H\u200bIV", "\u0397IV", "H\u0406V"),
    ("flu", "Flu", "f\u200blu", " flu", "flu\u2060"),
    ("Pocken", "P\u043ecken", "\u0420ocken", "Pocken\u00a0"),
)


def _with_cells(folder: Folder, claims: dict[str, Any], column: str, cells: tuple[str, ...]) -> Folder:
    """A release of one CSV file in which a column holds some cells by turns, described to the last hash."""
    (name,) = [one for one in folder.tables if one.endswith(".csv")]
    (table,) = claims["tables"]
    frame = pd.read_csv(io.BytesIO(folder.files[name]), dtype=str, keep_default_na=False)
    frame[column] = [cells[row % len(cells)] for row in range(len(frame))]
    content = io.BytesIO()
    write_tables({table["name"]: frame}, content, "csv")
    restated(claims, {table["name"]: frame})
    _with_file_hashes(claims, {name: content.getvalue()})
    return folder.claiming(claims).with_files({name: content.getvalue()})


@edit
def _spells_a_known_value_in_several_ways(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    shown = claims["tables"][0]["columns"]
    known = [one["name"] for one in claims["attributes"] if one["role"] == "quasi-identifier" and one["name"] in shown]
    column, cells = case.pick(known), case.pick(SPELLINGS)
    return Forgery(
        _with_cells(folder, claims, column, cells),
        (f"'{column}' holds {cells!a} by turns",),
        "rows are told apart by how a known value is written",
    )


@edit
def _counts_values_that_read_alike(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    column, cells = _secret(claims), case.pick(READ_ALIKE)
    if column not in claims["tables"][0]["columns"]:
        raise DoesNotFitError
    entry = next(one for one in claims["attributes"] if one["name"] == column)
    entry |= {"values": [*cells], "protected": None, "hierarchy": None}
    claim = _requirement({"name": "distinct-diversity", "l": case.pick((2, 3))}, column, True, "")
    claims["requirements"] = [claim | {"reached": None}]
    return Forgery(
        _with_cells(folder, claims, column, cells),
        (f"'{column}' holds {cells!a} by turns",),
        "values that read alike are counted as several",
    )


@edit
def _orders_categories(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    column = _secret(claims)
    entry = next(one for one in claims["attributes"] if one["name"] == column)
    values = list(entry.get("values") or ())
    if len(values) < 2:
        raise DoesNotFitError
    case.random.shuffle(values)
    entry["values"] = values
    fields = {"name": "t-closeness", "t": case.pick((0.2, 0.5, 0.9)), "ground": "ordered"}
    claims["requirements"] = [_requirement(fields, column, True, "") | {"reached": None}]
    return Forgery(
        folder.claiming(claims), (f"orders the values of '{column}': {values}",), told="by the certificate's order"
    )


@edit
def _asks_about_another_attribute(case: Case, folder: Folder) -> Forgery:
    claims = folder.claims
    secret = _secret(claims)
    others = [one["name"] for one in claims["attributes"] if one.get("form") and one["name"] != secret]
    claim = _any_requirement(case, secret)
    if secret is None or claim["attribute"] is None:
        raise DoesNotFitError
    fields = claim["requirement"] | {"attribute": secret}
    claim |= {"requirement": fields, "label": REQUIREMENTS.build(fields).label(), "attribute": case.pick(others)}
    claims["requirements"].append(claim)
    wrong = "what is asked of one attribute is counted of another"
    return _changed(folder, claims, f"{claim['label']} of '{claim['attribute']}'", wrong)


@edit
def _parts_without_rows(case: Case, folder: Folder) -> Forgery:
    """Parts that hold nothing, and spell something by their numbers."""
    if not folder.is_in_parts:
        raise DoesNotFitError
    claims = folder.claims
    (table,) = claims["tables"]
    files: dict[str, bytes] = {}
    part = next(content for name, content in sorted(folder.tables.items()) if name.endswith(".parquet"))
    schema = pq.read_schema(io.BytesIO(part)).remove_metadata()
    for letter in CANARY[: case.pick((1, 6))]:
        content = io.BytesIO()
        with coded_writer(content, schema) as writer:
            if case.chance(0.2):
                writer.write_table(coded_table(schema.empty_table(), schema))
        name = f"part-{ord(letter):05d}.parquet"
        files[name] = content.getvalue()
        columns = PartDigester(schema).close().column_sha256
        _listed(claims, name, content.getvalue())
        rows = case.pick((0, 1, 60))
        digest = rows_digest(schema.names, rows, columns)
        claims["parts"].append({"file": name, "rows": rows, "sha256": digest, "column_sha256": columns})
    table["sha256"] = claims["sha256"] = joined_digest([one["sha256"] for one in claims["parts"]])
    table["column_sha256"] = {
        name: joined_digest([one["column_sha256"][name] for one in claims["parts"]]) for name in schema.names
    }
    return Forgery(folder.claiming(claims).with_files(files), (f"parts {sorted(files)}",), "parts without rows")


ON_FILES = {
    *("spells_a_known_value_in_several_ways", "counts_values_that_read_alike", "parts_without_rows"),
    *("something_in_a_file", "metadata_of_a_part", "more_files", "a_link", "telling_names", "another_description"),
    *("time_stamps", "cells", "other_people", "other_people_in_parts"),
}
"""Edits of the files, which have no meaning for tables in a database."""
ON_TEXT = {"keys_twice"}
"""Edits of a certificate's text, which says more than its fields."""
ANEW = {"replaces_the_claims", "other_people", "other_people_in_parts", "orders_categories"}
"""Edits that take away what others said before."""
