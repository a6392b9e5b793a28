"""Shell completion scripts for bash, zsh and fish, generated from the commands' parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping

from ppo_top.model.named_tuple import NamedTuple

FILE_METAVARS = ("PATH", "FILE")
"""Arguments with these metavars are completed with file names."""


class Argument(NamedTuple):
    """An option (with its spellings) or a positional argument (without)."""

    flags: tuple[str, ...]
    metavar: str
    """empty for options without a value"""
    choices: tuple[str, ...]
    help: str
    repeats: bool

    @property
    def wants_file(self) -> bool:
        """Whether its value is a path."""
        return self.metavar in FILE_METAVARS


class CommandLine(NamedTuple):
    """What can be completed of a command."""

    description: str
    arguments: list[Argument]


def arguments_of(parser: argparse.ArgumentParser) -> list[Argument]:
    """The options and positional arguments of a command, by its parser."""
    # `_actions` is private, but argparse has no public way to list them
    return [_argument(action) for action in parser._actions]


def _argument(action: argparse.Action) -> Argument:
    choices = tuple(map(str, action.choices or ()))
    if action.dest == "name":  # of `explain`: every name but the tags, of which there are thousands
        from ppo_top.output.explained_names import explained_names

        choices = tuple(explained_names())
    metavar = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
    text = (action.help or "").replace("%(default)g", f"{action.default}".removesuffix(".0"))
    return Argument(tuple(action.option_strings), metavar, choices, text, action.nargs == "*")


def completion_script(shell: str, commands: Mapping[str, CommandLine]) -> str:
    """The script for `bash`, `zsh` or `fish`; `commands` by their names."""
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join(make(commands)) + "\n"


# --- bash ------------------------------------------------------------------------------------


def _bash(commands: Mapping[str, CommandLine]) -> Iterator[str]:
    names = " ".join(commands)
    yield f"""\
# bash completion for ppo-top: source <(ppo-top completion bash)
_ppo_top() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=watch
    local options= words= files=
    if [[ $prev == "=" ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    if [[ $cur == "=" ]]; then cur=; fi
    if [[ $COMP_CWORD -gt 1 && " {names} " == *" ${{COMP_WORDS[1]}} "* ]]; then
        command=${{COMP_WORDS[1]}}
    fi
    case $command:$prev in"""
    for command, (_, arguments) in commands.items():
        for each in arguments:
            if each.flags and each.metavar:
                patterns = "|".join(f"{command}:{flag}" for flag in each.flags)
                yield f'        {patterns}) words="{" ".join(each.choices)}"' + (
                    " files=yes ;;" if each.wants_file else " ;;"
                )
    yield "        *) case $command in"
    for command, (_, arguments) in commands.items():
        positional = [each for each in arguments if not each.flags]
        options = " ".join(flag for each in arguments for flag in each.flags)
        words = " ".join(word for each in positional for word in each.choices)
        files = " files=yes" * any(each.wants_file for each in positional)
        yield f'            {command}) options="{options}" words="{words}"{files} ;;'
    yield f"""\
        esac
        if [[ $COMP_CWORD -eq 1 ]]; then words="{names}"; fi ;;
    esac
    if [[ $cur == -* && -n $options ]]; then words=$options files=; fi
    local IFS=$'\\n'
    COMPREPLY=($(IFS=' '; compgen -W "$words" -- "$cur"))
    if [[ -n $files ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}}
complete -o filenames -F _ppo_top ppo-top"""


# --- zsh -------------------------------------------------------------------------------------


def _zsh(commands: Mapping[str, CommandLine]) -> Iterator[str]:
    yield "#compdef ppo-top"
    yield "# zsh completion for ppo-top: source <(ppo-top completion zsh), after compinit"
    yield "_ppo_top() {"
    yield "    local -a commands=("
    yield from (f"        {_quoted(f'{name}:{what}')}" for name, (what, _) in commands.items())
    yield "    )"
    yield "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then"
    yield "        _describe -t commands command commands"
    yield "        _files"
    yield "        return"
    yield "    fi"
    yield "    case $words[2] in"
    for command, (_, arguments) in commands.items():
        yield f"        {command})"
        yield "            shift words; (( CURRENT-- ))"
        yield from _zsh_arguments(arguments, "            ")
        yield "            ;;"
    yield "        *)"
    yield from _zsh_arguments(commands["watch"].arguments, "            ")
    yield "            ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ "$funcstack[1]" = _ppo_top ]]; then _ppo_top "$@"'
    yield "else compdef _ppo_top ppo-top; fi"


def _zsh_arguments(arguments: list[Argument], indent: str) -> Iterator[str]:
    specs = [spec for each in arguments for spec in _zsh_specs(each)]
    yield f"{indent}_arguments " + f" \\\n{indent}    ".join(map(_quoted, specs))


def _zsh_specs(each: Argument) -> Iterator[str]:
    values = f"({' '.join(each.choices)})" if each.choices else "_files" * each.wants_file or " "
    value = f":{each.metavar}:{values}" if each.metavar else ""
    if not each.flags:
        yield f"{'*' if each.repeats else '1'}{value}"
    text = re.sub(r"([][:])", r"\\\1", each.help)
    yield from (f"{flag}[{text}]{value}" for flag in each.flags)


# --- fish ------------------------------------------------------------------------------------


def _fish(commands: Mapping[str, CommandLine]) -> Iterator[str]:
    yield "# fish completion for ppo-top: ppo-top completion fish | source"
    others = " ".join(name for name in commands if name != "watch")
    for name, (what, _) in commands.items():
        yield f"complete -c ppo-top -n __fish_use_subcommand -a {name} -d {_quoted(what)}"
    for name, (_, arguments) in commands.items():
        seen = f"__fish_seen_subcommand_from {name}"
        condition = _quoted(
            f"not __fish_seen_subcommand_from {others}" if name == "watch" else seen
        )
        for each in arguments:
            flags = [f"-l {flag[2:]}" for flag in each.flags if flag.startswith("--")]
            flags += [f"-s {flag[1:]}" for flag in each.flags if not flag.startswith("--")]
            values = f"-f -a {_quoted(' '.join(each.choices))}" if each.choices else ""
            if each.metavar and each.flags:
                values += " -r" + ("" if each.wants_file else " -f") * (not each.choices)
            text = f"-d {_quoted(each.help)}" if each.flags and each.help else ""
            parts = ("complete -c ppo-top -n", condition, *flags, values.strip(), text)
            if flags or values:
                yield " ".join(part for part in parts if part)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
