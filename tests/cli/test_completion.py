"""What shells complete: every command, option and fixed value, tried in bash itself."""

from __future__ import annotations

import argparse
import importlib
import io
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from anoncore.algorithms import ALGORITHMS
from anoncore.cli import main
from anoncore.cli.command import COMMANDS
from anoncore.cli.completion import SHELLS
from anoncore.requirements import REQUIREMENTS


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("completion")
    files = {}
    for shell in SHELLS:
        files[shell] = folder / f"anoncore.{shell}"
        with redirect_stdout(io.StringIO()) as told:
            assert main(["completion", shell]) == 0
        files[shell].write_text(told.getvalue(), encoding="utf-8", newline="\n")
    return files


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_known(printed: dict[str, Path], shell: str) -> None:
    text = printed[shell].read_text("utf-8")
    for name, command in COMMANDS.items():
        assert name in text
        parser = argparse.ArgumentParser(prog=name)
        getattr(importlib.import_module(f"anoncore.cli.{command.module}"), command.add_options)(parser)
        for option in (option for action in parser._actions for option in action.option_strings[-1:]):
            assert (f"-l {option[2:]} " if shell == "fish" else option) in text


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_reads_it(printed: dict[str, Path], shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    ran = subprocess.run([shell, "-n", str(printed[shell])], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ver"], {"verify"}),
        (["--v"], {"--version"}),
        (["run", "--for"], {"--format", "--force"}),
        (["run", "--format", ""], {"csv", "parquet", "excel"}),
        (["run", "x.toml", "--engine", "d"], {"disk"}),
        (["run", "--output", ""], {"table.csv"}),
        (["run", ""], {"table.csv"}),
        (["completion", ""], set(SHELLS)),
        (["algorithms", "mond"], {"mondrian"}),
        (["requirements", ""], set(REQUIREMENTS)),
        (["sweep", "x.toml", "--js"], {"--json"}),
        (["sweep", "x.toml", "--try", ""], set(ALGORITHMS)),
        (["evaluate", "--measure", "utility.inf"], {"utility.information_loss"}),
    ],
    # The order of a set's members differs between processes, and names of tests must not.
    ids=lambda words: " ".join(sorted(words)[:2]),
)
def test_bash_completes(printed: dict[str, Path], words: list[str], expected: set[str], tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    (tmp_path / "table.csv").touch()
    read = f'source "{printed["bash"]}"; COMP_WORDS=(anoncore "$@"); COMP_CWORD=$#'
    script = f'{read}; $(complete -p anoncore | sed "s/.*-F \\([^ ]*\\).*/\\1/"); echo "${{COMPREPLY[*]}}"'
    ran = subprocess.run(
        ["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert set(ran.stdout.split()) == expected


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err


def test_python_m_anoncore_is_the_command_line() -> None:
    command = [sys.executable, "-m", "anoncore", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("anoncore 0.")
