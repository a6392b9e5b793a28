"""Which words mean another machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.remote.address import RemotePath, RemotePathError, parse_remote


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("node3:/scratch/runs", RemotePath("node3", "", "/scratch/runs")),
        ("me@node3:/scratch/runs/", RemotePath("me@node3", "", "/scratch/runs")),
        ("node3:runs", RemotePath("node3", "", "~/runs")),
        ("node3:", RemotePath("node3", "", "~")),
        ("node3:~other/runs", RemotePath("node3", "", "~other/runs")),
        ("node3:/a b/c:d", RemotePath("node3", "", "/a b/c:d")),
        ("[::1]:/runs", RemotePath("::1", "", "/runs")),
        ("[node3:2222]:/runs", RemotePath("node3", "2222", "/runs")),
        ("ssh://me@node3:2222/runs", RemotePath("me@node3", "2222", "/runs")),
        ("ssh://node3/~/runs", RemotePath("node3", "", "~/runs")),
        ("ssh://node3", RemotePath("node3", "", "~")),
    ],
)
def test_a_colon_before_any_slash_means_another_machine(word: str, meaning: RemotePath) -> None:
    """As for scp; a relative path is one in the home directory there."""
    assert parse_remote(word) == meaning


@pytest.mark.parametrize("word", ["runs", "./a:b", "/runs/a:b", "runs/12:30:00", "-", ""])
def test_other_words_are_paths_of_this_machine(word: str) -> None:
    """A slash comes first, or there is no colon."""
    assert parse_remote(word) is None


def test_a_file_that_exists_here_is_meant_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log may have a colon in its name."""
    monkeypatch.chdir(tmp_path)
    assert parse_remote("run:1.log") is not None
    Path("run:1.log").touch()
    assert parse_remote("run:1.log") is None


@pytest.mark.parametrize(
    "word",
    [
        "-oProxyCommand=touch pwned:/runs",
        "-v:/runs",
        "ssh://-oProxyCommand=x/runs",
        "[-v:22]:/runs",
        "a b:/runs",
        "$(x):/runs",
        "`x`:/runs",
        "x;y:/runs",
        "node3:../other",
        "node3:/runs/../../etc",
        "node3:/a\0b",
    ],
)
def test_what_could_be_an_option_or_a_command_is_refused(word: str) -> None:
    """Before ssh is started; neither may a path lead upwards, for copies have the same one."""
    with pytest.raises(RemotePathError, match=r"not the name of a host|without `\.\.`"):
        parse_remote(word)


@pytest.mark.parametrize(
    "word", ["node3:/runs", "me@node3:~/runs", "[node3:2222]:/runs", "[::1]:/runs"]
)
def test_the_label_with_the_path_is_a_word_again(word: str) -> None:
    """What is printed can be given to the next command."""
    found = parse_remote(word)
    assert found is not None
    assert f"{found.label}:{found.path}" == word
