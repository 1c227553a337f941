"""What leaves the house: tables as files, certificates and their verification, reports, saved releases.

Reports are in `anoncore.publishing.report`, whose function has the name of the package.

Examples
--------
All examples of the package begin with this release.

>>> import pandas as pd
>>> from anoncore import Microdata
>>> from anoncore.algorithms import Mondrian
>>> from anoncore.requirements import KAnonymity
>>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
>>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
>>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
"""

from anoncore.publishing.certification import Certificate, Finding, Verification, certify, input_hash, new_key, verify
from anoncore.publishing.databases.held_tables import verify_stored
from anoncore.publishing.databases.storing import store
from anoncore.publishing.export import FileFormat, safe_cells, write_tables
from anoncore.publishing.joined_publication import JoinedCertificate, joined_files, verify_joined
from anoncore.publishing.parts.part_verification import verify_folder
from anoncore.publishing.publication import publish, release_archive, release_files
from anoncore.publishing.signing.signers import SignedBy, sign, signed_by
from anoncore.recipes.release_file import packed, unpacked

__all__ = [
    "Certificate",
    "FileFormat",
    "Finding",
    "JoinedCertificate",
    "SignedBy",
    "Verification",
    "certify",
    "input_hash",
    "joined_files",
    "new_key",
    "packed",
    "publish",
    "release_archive",
    "release_files",
    "safe_cells",
    "sign",
    "signed_by",
    "store",
    "unpacked",
    "verify",
    "verify_folder",
    "verify_joined",
    "verify_stored",
    "write_tables",
]
