"""A change in one kernel's source throws away what other kernels compiled of it."""

from pathlib import Path

from anoncore.kernels import compiler
from anoncore.kernels.freshness import STAMP, drop_stale


def test_compiled_code_lives_as_long_as_all_sources(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.py", tmp_path / "outer.py"
    inner.write_text("A = 1\n")
    outer.write_text("B = 2\n")
    assert drop_stale(tmp_path)
    cache = tmp_path / "__pycache__"
    (cache / "outer.kernel-1.nbi").write_bytes(b"index")
    (cache / "outer.kernel-1.1.nbc").write_bytes(b"code")
    (cache / "outer.cpython-311.pyc").write_bytes(b"python")
    assert not drop_stale(tmp_path)
    assert len(list(cache.iterdir())) == 4
    inner.write_text("A = 3\n")
    assert drop_stale(tmp_path)
    assert {one.name for one in cache.iterdir()} == {"outer.cpython-311.pyc", STAMP}
    inner.rename(tmp_path / "other.py")
    assert drop_stale(tmp_path)


def test_a_cache_that_cannot_be_written_is_left(tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text("A = 1\n")
    (tmp_path / "__pycache__").write_text("a file stands here")
    assert not drop_stale(tmp_path)


def test_the_kernels_are_watched() -> None:
    folder = Path(compiler.__file__).parent
    assert (folder / "__pycache__" / STAMP).is_file() or not drop_stale(folder)
