"""Genuine releases of every method in every form in which they leave the house, each as the files of a folder."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anoncore import AnonymizationError, Microdata, Release
from anoncore.algorithms import ALGORITHMS
from anoncore.cli import main
from anoncore.publishing import new_key, release_files
from anoncore.requirements import KAnonymity
from anoncore.table.preparation import DateShift, prepared
from anoncore.table.pseudonyms import Pseudonyms
from tests.fuzz.case import Case
from tests.fuzz.releases import any_algorithm
from tests.fuzz.tables import small_frame, small_table
from tests.properties.subjects import EVERYWHERE, PARAMETERS

FORMATS = ("csv", "parquet", "excel")
ENDINGS = {"csv": ".csv", "parquet": ".parquet", "excel": ".xlsx"}
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "since": "quasi-identifier",
    "illness": "sensitive",
}
DECIDED = ROLES | {"visits": "insensitive"}
CERTIFICATE = "people-certificate.json"
PARTS_CERTIFICATE = "_certificate.json"
CRASHED = -1


@dataclass(frozen=True)
class Folder:
    """Published files by their paths below a folder, with the certificate among them; `links` lead elsewhere."""

    certificate: str
    files: Mapping[str, bytes]
    about: str
    links: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def claims(self) -> dict[str, Any]:
        """The certificate."""
        found: dict[str, Any] = json.loads(self.files[self.certificate])
        return found

    @property
    def text(self) -> bytes:
        """The certificate as it stands there."""
        return self.files[self.certificate]

    @property
    def tables(self) -> dict[str, bytes]:
        """The files but the certificate."""
        return {name: content for name, content in self.files.items() if name != self.certificate}

    @property
    def is_in_parts(self) -> bool:
        """Whether it is that of a large run."""
        return self.certificate == PARTS_CERTIFICATE

    def with_files(self, changes: Mapping[str, bytes | None]) -> Folder:
        """The folder with files written over, added, or where there is None taken away."""
        files = {name: content for name, content in {**self.files, **changes}.items() if content is not None}
        return Folder(self.certificate, files, self.about, self.links)

    def claiming(self, claims: Mapping[str, Any]) -> Folder:
        """The folder with another certificate."""
        return self.with_files({self.certificate: json.dumps(claims, ensure_ascii=False, indent=2).encode()})

    def write(self, place: Path) -> Path:
        """Write everything below a folder; gives the certificate's path."""
        for name, content in self.files.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name, content in self.links.items():
            target = place.with_name(f"{place.name}-elsewhere") / Path(name).name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            (place / name).symlink_to(target)
        return place / self.certificate


@dataclass(frozen=True)
class Answer:
    """What `anoncore verify` says of a folder."""

    code: int
    text: str

    @property
    def accepted(self) -> bool:
        """Whether it says without reserve that all that was required holds."""
        return self.code == 0

    @property
    def refused(self) -> bool:
        """Whether something fails, or the input is bad."""
        return self.code in (1, 2)


def verified(folder: Folder, *options: str, as_folder: bool = False) -> Answer:
    """Run the verifier on a folder as a reader would: by its certificate, or with the whole folder."""
    root = Path(tempfile.mkdtemp(prefix="forged-"))
    try:
        place = root / "release"
        place.mkdir()
        path = folder.write(place)
        words = [str(place)] if folder.is_in_parts and as_folder else [str(path)]
        words += [str(place)] if as_folder and not folder.is_in_parts else []
        return answered([*words, *options])
    finally:
        shutil.rmtree(root)


def answered(words: list[str]) -> Answer:
    """What `anoncore verify` says."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            code = main(["verify", *words, "--quiet"])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        except Exception:
            return Answer(CRASHED, traceback.format_exc())
    return Answer(code, said.getvalue())


@cache
def people(n: int = 60) -> pd.DataFrame:
    """People with whole numbers, dates, guarded texts, and a number that nobody tagged as known."""
    rng = np.random.default_rng(36)
    return pd.DataFrame(
        {
            "name": [f"P{number}" for number in range(n)],
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["=A", "B, C", "007", "Bonn"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
            "illness": rng.choice(["flu", "cold", "gout", "+pox"], n),
            "visits": rng.integers(1, 9, n),
            "note": rng.choice(["=1+1", "fine", None], n),
        }
    )


@cache
def released(method: str, variant: int, decided: bool) -> Release | None:
    """The people's release by a method; None where it cannot make one of them."""
    kind = ALGORITHMS[method]
    fields: dict[str, Any] = {}
    if "requirements" in kind.model_fields:
        fields["requirements"] = (KAnonymity(k=3),)
    fields |= PARAMETERS.get(method, [{}])[variant]
    if "method" in fields and "seed" in type(fields["method"]).model_fields:
        fields["method"] = fields["method"].replace(seed=None)
    try:
        return kind(**fields).anonymize(Microdata(people(), roles=DECIDED if decided else ROLES))
    except AnonymizationError:
        return None


def every_release() -> Iterator[tuple[str, int, bool]]:
    """Method, variant, and whether a column is published by decision, of every release."""
    for method in EVERYWHERE:
        for variant in range(len(PARAMETERS.get(method, [{}]))):
            yield method, variant, False
            yield method, variant, True


@cache
def files_of(method: str, variant: int, decided: bool, format: Any) -> Folder | None:
    """A genuine release in files; None where the method makes none of these people."""
    release = released(method, variant, decided)
    if release is None:
        return None
    try:
        files = release_files(release, "people", new_key(), format)
    except AnonymizationError:
        return None
    return Folder(CERTIFICATE, files, f"{method} {variant} {format}{' with a decided column' if decided else ''}")


RECIPE = """
[source]
path = "people.parquet"
[roles]
{roles}
[algorithm]
name = "{method}"
requirements = [{{ name = "k-anonymity", k = {k} }}]
"""


@cache
def in_parts(method: str = "rothko-tree", k: int = 3, roles: tuple[tuple[str, str], ...] = ()) -> Folder:
    """A genuine release of a large run: a folder of Parquet files with their certificate."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        tagged = dict(roles) or ROLES
        frame = people().drop(columns=[one for one in people() if one not in tagged])
        frame.assign(constant="x").to_parquet(place / "people.parquet")
        lines = "\n".join(f'{one} = "{role}"' for one, role in tagged.items())
        (place / "people.toml").write_text(RECIPE.format(roles=lines, method=method, k=k))
        said = io.StringIO()
        words = ["run", f"{place}/people.toml", "--engine", "disk", "--output", name, "--quiet"]
        with redirect_stdout(said), redirect_stderr(said):
            code = main([*words, "--key-file", f"{place}/key.txt"])
        assert code == 0, said.getvalue()
        folder = place / "people-release"
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return Folder(PARTS_CERTIFICATE, files, f"{method} in parts")


KEY = Pseudonyms(b"0123456789abcdef")


def of_any_table(case: Case) -> Folder | None:
    """A genuine release of a random table by any method; of half of them one person has several rows, joined by a
    column that is kept back or holds pseudonyms, and dates may be shifted. None where there is none of it.
    """
    frame = small_frame(case)
    try:
        if case.chance(0.5):
            data = small_table(case, frame)
        else:
            frame = frame.assign(who=case.generator().integers(0, len(frame) // 2 + 1, len(frame)))
            roles = {str(name): case.pick(("quasi-identifier", "insensitive")) for name in frame.columns[1:-1]}
            roles |= {"name": "identifier", str(frame.columns[1]): "quasi-identifier", "illness": "sensitive"}
            shifts = {"since": DateShift(shift=7, by="who")} if "since" in frame and case.chance(0.7) else {}
            if shifts or case.chance(0.5):
                data = prepared(frame, shifts, {"who": KEY} if not shifts or case.chance(0.5) else {}).microdata(
                    roles=roles
                )
            else:
                data = Microdata(frame, roles, unit="who")
        if data.sensitive_values:
            return None  # the plain judge of the forger asks for the protection of every value
        algorithm, format = any_algorithm(case), case.pick(FORMATS)
        files = release_files(algorithm.anonymize(data), "people", new_key(), format)
    except AnonymizationError:
        return None
    return Folder(CERTIFICATE, files, f"{algorithm!r} of {data!r} as {format}")


def any_genuine(case: Case) -> Folder:
    """A genuine release in one of the forms."""
    while True:
        if case.chance(0.3):
            found = of_any_table(case)
            if found is not None:
                return found
            continue
        if case.chance(0.12):
            return in_parts(case.pick(("rothko-tree", "rothko-sampling")), case.pick((2, 3)))
        method, variant, decided = case.pick(tuple(every_release()))
        found = files_of(method, variant, decided, case.pick(FORMATS))
        if found is not None:
            return found


def as_delivered(case: Case, folder: Folder) -> Folder:
    """The same release as it may reach a reader: its certificate with other spacing, or its fields in another order."""
    claims = folder.claims
    if case.chance(0.3):
        text = json.dumps(claims, ensure_ascii=case.chance(0.5), indent=case.pick((None, 0, 4)))
        folder = folder.with_files({folder.certificate: text.encode()})
    if case.chance(0.2):
        backwards = dict(reversed(claims.items()))
        folder = folder.claiming(backwards)
    return folder
