"""Shell completion: generated from the parsers, and tried in a real shell."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.cli.commands import command_lines
from ppo_top.cli.completion import completion_script

SHELLS = ("bash", "zsh", "fish")


def bash_completions(words: list[str], folder: Path) -> set[str]:
    """What bash offers for the last of some words, in a folder."""
    script = completion_script("bash", command_lines())
    run = f"""
        COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
        _ppo_top; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-uc", script + run],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return set(done.stdout.splitlines()) - {""}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["che"], {"check"}),
        (["check", "--fo"], {"--follow", "--format"}),
        (["check", "--fail-on", ""], {"watch", "warn", "crit"}),
        (["--theme", "=", "da"], {"dark"}),
        (["--theme", "="], {"dark", "light"}),
        (["explain", "kl-h"], {"kl-high"}),
        (["export", "--format", "j"], {"jsonl"}),
        (["check", "--theme"], set()),
        (["--goal", ""], set()),
        (["completion", ""], {"bash", "zsh", "fish"}),
        (["status", "my"], {"my runs", "my.toml"}),
        (["check", "--settings", "my."], {"my.toml"}),
    ],
    ids=lambda value: " ".join(sorted(value) if isinstance(value, set) else value),
)
def test_bash_offers_commands_options_values_and_files(
    words: list[str], offered: set[str], tmp_path: Path
) -> None:
    """What is offered depends on the command and on the option before the cursor."""
    (tmp_path / "my runs").mkdir()
    (tmp_path / "my.toml").touch()
    assert bash_completions(["ppo-top", *words], tmp_path) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("che", "check"),
        ("check --fol", "--follow"),
        ("check --fail-on cr", "crit"),
        ("--the", "--theme"),
        ("explain kl-h", "kl-high"),
    ],
)
def test_fish_offers_commands_options_and_values(line: str, offered: str) -> None:
    """Asked with fish's own `complete -C`."""
    asked = f"complete -C {shlex.quote(f'ppo-top {line}')}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", completion_script("fish", command_lines()) + asked],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [each.split("\t")[0] for each in done.stdout.splitlines()] == [offered]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_has_every_command_and_option(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is listed by hand: a new option is completed at once."""
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command, (_, arguments) in command_lines().items():
        assert command in script
        for argument in arguments:
            assert all(flag.lstrip("-") in script for flag in argument.flags)
            assert all(choice in script for choice in argument.choices)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(shell: str, tmp_path: Path) -> None:
    """No syntax error, in each shell that is installed."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "completion"
    file.write_text(completion_script(shell, command_lines()))
    subprocess.run([shell, "-n", str(file)], check=True)
