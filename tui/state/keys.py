"""Every key, once: the app's actions, the footer, the help screen and the README's table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """A line of the key table.

    `keys` are Textual's names; `label` is how help and footer spell them; `action` names the method
    `do_<action>` of the app; `footer_label` is the word in the footer (empty: only in the help).
    """

    keys: tuple[str, ...]
    label: str
    action: str
    group: str
    description: str
    footer_label: str = ""


MOVE_GROUP, LOOK_GROUP, TIME_GROUP, FINDINGS_GROUP, PROGRAM_GROUP = (
    "Move",
    "Look closer",
    "Time travel",
    "Findings",
    "Program",
)

KEY_BINDINGS: tuple[KeyBinding, ...] = (
    KeyBinding(("q", "ctrl+c"), "q", "quit", PROGRAM_GROUP, "Quit", "quit"),
    KeyBinding(
        ("question_mark", "h", "f1"), "?", "help", PROGRAM_GROUP, "Help: all keys and signs", "help"
    ),
    KeyBinding(
        ("slash",),
        "/",
        "filter",
        MOVE_GROUP,
        "Filter the runs: name, verdict, finding ...",
        "filter",
    ),
    KeyBinding(("enter",), "⏎", "zoom", LOOK_GROUP, "Zoom: the chosen value as a chart", "zoom"),
    KeyBinding(
        ("c",), "c", "compare", LOOK_GROUP, "Compare the runs on the chosen value", "compare"
    ),
    KeyBinding(("e",), "e", "explain", LOOK_GROUP, "Explain the chosen value", "explain"),
    KeyBinding(
        ("f",), "f", "findings", FINDINGS_GROUP, "Findings: all of them, with reasons", "findings"
    ),
    KeyBinding(
        ("left_square_bracket",), "[", "back", TIME_GROUP, "One update back; held, faster", "back"
    ),
    KeyBinding(
        ("right_square_bracket",), "]", "forward", TIME_GROUP, "One update on; held, faster", "on"
    ),
    KeyBinding(("n",), "n", "next_red", TIME_GROUP, "On to the next finding", "next finding"),
    KeyBinding(("N", "upper_n"), "N", "previous_red", TIME_GROUP, "Back to the finding before"),
    KeyBinding(("space",), "space", "pause", TIME_GROUP, "Play or pause", "play"),
    KeyBinding(("greater_than_sign",), ">", "faster", TIME_GROUP, "Play faster"),
    KeyBinding(("less_than_sign",), "<", "slower", TIME_GROUP, "Play slower"),
    KeyBinding(("home",), "Home", "start", TIME_GROUP, "To the first update (list: first run)"),
    KeyBinding(
        ("end",), "End", "live", TIME_GROUP, "To the newest update: live (list: last run)", "live"
    ),
    KeyBinding(("g",), "g", "jump", TIME_GROUP, "Go to a step or a percentage"),
    KeyBinding(("up", "k"), "↑", "up", MOVE_GROUP, "The line above"),
    KeyBinding(("down", "j"), "↓", "down", MOVE_GROUP, "The line below"),
    KeyBinding(("tab",), "Tab", "next_pane", MOVE_GROUP, "Between runs and values"),
    KeyBinding(("pageup",), "PgUp", "page_up", MOVE_GROUP, "A page up"),
    KeyBinding(("pagedown",), "PgDn", "page_down", MOVE_GROUP, "A page down"),
    KeyBinding(("escape",), "Esc", "out", MOVE_GROUP, "One layer out; clears the filter"),
    KeyBinding(("comma",), ",", "run_before", MOVE_GROUP, "The run before"),
    KeyBinding(("full_stop",), ".", "run_after", MOVE_GROUP, "The run after"),
    KeyBinding(("t",), "t", "fold", MOVE_GROUP, "Fold or unfold groups of seeds"),
    KeyBinding(
        ("1",), "1", "toggle_runs", LOOK_GROUP, "The runs: beside the run, or a table (Tab)"
    ),
    KeyBinding(("2",), "2", "toggle_finding", LOOK_GROUP, "Show or hide the finding"),
    KeyBinding(("3",), "3", "toggle_values", LOOK_GROUP, "Show or hide the crucial values"),
    KeyBinding(("4",), "4", "toggle_panels", LOOK_GROUP, "Show or hide the panels"),
    KeyBinding(("5", "o"), "5", "log", LOOK_GROUP, "The console output"),
    KeyBinding(("6", "i"), "6", "config", LOOK_GROUP, "The run's configuration"),
    KeyBinding(("x",), "x", "axis", LOOK_GROUP, "Chart against step, time or update"),
    KeyBinding(("l",), "l", "logarithm", LOOK_GROUP, "Chart with a logarithmic scale"),
    KeyBinding(("plus", "equals_sign"), "+", "smoother", LOOK_GROUP, "Smooth the chart more"),
    KeyBinding(("minus",), "-", "rougher", LOOK_GROUP, "Smooth the chart less"),
    KeyBinding(("0",), "0", "raw", LOOK_GROUP, "No smoothing"),
    KeyBinding(("left",), "←", "left", LOOK_GROUP, "The chart's cursor to the left"),
    KeyBinding(("right",), "→", "right", LOOK_GROUP, "The chart's cursor to the right"),
    KeyBinding(("s",), "s", "stack", LOOK_GROUP, "Stack the charts of a group over one cursor"),
    KeyBinding(
        ("a",), "a", "acknowledge", FINDINGS_GROUP, "Acknowledge the finding, with a reason"
    ),
    KeyBinding(("m",), "m", "mute", FINDINGS_GROUP, "Mute the finding's rule for this run"),
    KeyBinding(("b",), "b", "bell", PROGRAM_GROUP, "Bell when something turns red: on or off"),
    KeyBinding(("T", "upper_t"), "T", "theme", PROGRAM_GROUP, "Theme: the next one"),
    KeyBinding(("r", "ctrl+l"), "r", "redraw", PROGRAM_GROUP, "Read again and draw anew"),
    KeyBinding(("ctrl+p", "colon"), "Ctrl+P", "palette", PROGRAM_GROUP, "Command palette"),
    KeyBinding(("ctrl+z",), "Ctrl+Z", "suspend", PROGRAM_GROUP, "Into the background"),
)

KEY_GROUPS = (MOVE_GROUP, LOOK_GROUP, TIME_GROUP, FINDINGS_GROUP, PROGRAM_GROUP)

BINDING_BY_KEY: dict[str, KeyBinding] = {name: key for key in KEY_BINDINGS for name in key.keys}


def key_table() -> str:
    """The key table in Markdown, as the README has it."""
    rows = ["| key | what it does |", "|---|---|"]
    for group in KEY_GROUPS:
        rows.append(f"| **{group}** | |")
        for key in KEY_BINDINGS:
            if key.group == group:
                shown = "`" + key.label.replace("|", "\\|") + "`"
                rows.append(f"| {shown} | {key.description} |")
    return "\n".join(rows) + "\n"
