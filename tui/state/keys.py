"""Every key, once: the app's actions, the footer, the help screen and the README's table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the key table.

    `keys` are Textual's names; `shown` is how help and footer spell them; `action` names the method
    `do_<action>` of the app; `footer` is the word in the footer (empty: only in the help).
    """

    keys: tuple[str, ...]
    shown: str
    action: str
    group: str
    text: str
    footer: str = ""


MOVE, LOOK, TIME, FINDINGS, PROGRAM = "Move", "Look closer", "Time travel", "Findings", "Program"

KEYS: tuple[Key, ...] = (
    Key(("q", "ctrl+c"), "q", "quit", PROGRAM, "Quit", "quit"),
    Key(("question_mark", "h", "f1"), "?", "help", PROGRAM, "Help: all keys and signs", "help"),
    Key(("slash",), "/", "filter", MOVE, "Filter the runs: name, verdict, finding ...", "filter"),
    Key(("enter",), "⏎", "zoom", LOOK, "Zoom: the chosen value as a chart", "zoom"),
    Key(("c",), "c", "compare", LOOK, "Compare the runs on the chosen value", "compare"),
    Key(("e",), "e", "explain", LOOK, "Explain the chosen value", "explain"),
    Key(("f",), "f", "findings", FINDINGS, "Findings: all of them, with reasons", "findings"),
    Key(("left_square_bracket",), "[", "back", TIME, "One update back; held, faster", "back"),
    Key(("right_square_bracket",), "]", "forward", TIME, "One update on; held, faster", "on"),
    Key(("n",), "n", "next_red", TIME, "On to the next finding", "next finding"),
    Key(("N", "upper_n"), "N", "previous_red", TIME, "Back to the finding before"),
    Key(("space",), "space", "pause", TIME, "Play or pause", "play"),
    Key(("greater_than_sign",), ">", "faster", TIME, "Play faster"),
    Key(("less_than_sign",), "<", "slower", TIME, "Play slower"),
    Key(("home",), "Home", "start", TIME, "To the first update (list: first run)"),
    Key(("end",), "End", "live", TIME, "To the newest update: live (list: last run)", "live"),
    Key(("g",), "g", "jump", TIME, "Go to a step or a percentage"),
    Key(("up", "k"), "↑", "up", MOVE, "The line above"),
    Key(("down", "j"), "↓", "down", MOVE, "The line below"),
    Key(("tab",), "Tab", "next_pane", MOVE, "Between runs and values"),
    Key(("pageup",), "PgUp", "page_up", MOVE, "A page up"),
    Key(("pagedown",), "PgDn", "page_down", MOVE, "A page down"),
    Key(("escape",), "Esc", "out", MOVE, "One layer out; clears the filter"),
    Key(("comma",), ",", "run_before", MOVE, "The run before"),
    Key(("full_stop",), ".", "run_after", MOVE, "The run after"),
    Key(("t",), "t", "fold", MOVE, "Fold or unfold groups of seeds"),
    Key(("1",), "1", "toggle_runs", LOOK, "The runs: beside the run, or a table (Tab)"),
    Key(("2",), "2", "toggle_finding", LOOK, "Show or hide the finding"),
    Key(("3",), "3", "toggle_values", LOOK, "Show or hide the crucial values"),
    Key(("4",), "4", "toggle_panels", LOOK, "Show or hide the panels"),
    Key(("5", "o"), "5", "log", LOOK, "The console output"),
    Key(("6", "i"), "6", "config", LOOK, "The run's configuration"),
    Key(("x",), "x", "axis", LOOK, "Chart against step, time or update"),
    Key(("l",), "l", "logarithm", LOOK, "Chart with a logarithmic scale"),
    Key(("plus", "equals_sign"), "+", "smoother", LOOK, "Smooth the chart more"),
    Key(("minus",), "-", "rougher", LOOK, "Smooth the chart less"),
    Key(("0",), "0", "raw", LOOK, "No smoothing"),
    Key(("left",), "←", "left", LOOK, "The chart's cursor to the left"),
    Key(("right",), "→", "right", LOOK, "The chart's cursor to the right"),
    Key(("s",), "s", "stack", LOOK, "Stack the charts of a group over one cursor"),
    Key(("a",), "a", "acknowledge", FINDINGS, "Acknowledge the finding, with a reason"),
    Key(("m",), "m", "mute", FINDINGS, "Mute the finding's rule for this run"),
    Key(("b",), "b", "bell", PROGRAM, "Bell when something turns red: on or off"),
    Key(("T", "upper_t"), "T", "theme", PROGRAM, "Theme: the next one"),
    Key(("r", "ctrl+l"), "r", "redraw", PROGRAM, "Read again and draw anew"),
    Key(("ctrl+p", "colon"), "Ctrl+P", "palette", PROGRAM, "Command palette"),
    Key(("ctrl+z",), "Ctrl+Z", "suspend", PROGRAM, "Into the background"),
)

GROUPS = (MOVE, LOOK, TIME, FINDINGS, PROGRAM)

BY_KEY: dict[str, Key] = {name: key for key in KEYS for name in key.keys}


def table() -> str:
    """The key table in Markdown, as the README has it."""
    rows = ["| key | what it does |", "|---|---|"]
    for group in GROUPS:
        rows.append(f"| **{group}** | |")
        for key in KEYS:
            if key.group == group:
                shown = "`" + key.shown.replace("|", "\\|") + "`"
                rows.append(f"| {shown} | {key.text} |")
    return "\n".join(rows) + "\n"
