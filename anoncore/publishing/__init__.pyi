"""The public names and where each is defined; type checkers read them here, and `__init__.py` does."""

from typing import TYPE_CHECKING

# Always true here; it lets mypy read the modules before this list, which they import through their package.
if TYPE_CHECKING:
    from anoncore.publishing.certification.certificate import Certificate as Certificate
    from anoncore.publishing.certification.certificate import JoinedCertificate as JoinedCertificate
    from anoncore.publishing.certification.certifying import certify as certify
    from anoncore.publishing.certification.finding import Finding as Finding
    from anoncore.publishing.certification.finding import Verification as Verification
    from anoncore.publishing.certification.input_hash import input_hash as input_hash
    from anoncore.publishing.certification.input_hash import new_key as new_key
    from anoncore.publishing.certification.verification import verify as verify
    from anoncore.publishing.databases.held_tables import verify_stored as verify_stored
    from anoncore.publishing.databases.storing import store as store
    from anoncore.publishing.export import FileFormat as FileFormat
    from anoncore.publishing.export import safe_cells as safe_cells
    from anoncore.publishing.export import write_tables as write_tables
    from anoncore.publishing.joined_publication import joined_files as joined_files
    from anoncore.publishing.joined_publication import verify_joined as verify_joined
    from anoncore.publishing.parts.part_verification import verify_folder as verify_folder
    from anoncore.publishing.publication import publish as publish
    from anoncore.publishing.publication import release_archive as release_archive
    from anoncore.publishing.publication import release_files as release_files
    from anoncore.publishing.signing.signers import SignedBy as SignedBy
    from anoncore.publishing.signing.signers import sign as sign
    from anoncore.publishing.signing.signers import signed_by as signed_by
    from anoncore.recipes.release_file import packed as packed
    from anoncore.recipes.release_file import unpacked as unpacked
