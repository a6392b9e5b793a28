"""The key table: the one source of the app's actions, the footer, the help and README's table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """A row of the key table.

    `keys` are Textual's names, `label` is how help and footer spell them, `action` names the method
    `do_<action>`, and `footer_label` is the word in the footer (empty: only in the help).
    """

    keys: tuple[str, ...]
    label: str
    action: str
    group: str
    description: str
    footer_label: str = ""


MOVE, VIEW, TIME, FINDINGS, PROGRAM = KEY_GROUPS = (
    "Navigation",
    "Views and charts",
    "Time travel",
    "Findings",
    "Program",
)

KEY_BINDINGS: tuple[KeyBinding, ...] = (
    KeyBinding(("q", "ctrl+c"), "q", "quit", PROGRAM, "Quit", "quit"),
    KeyBinding(
        ("question_mark", "h", "f1"), "?", "help", PROGRAM, "Help: all keys and symbols", "help"
    ),
    KeyBinding(
        ("slash",), "/", "filter", MOVE, "Filter runs by name, verdict, state, finding", "filter"
    ),
    KeyBinding(("enter",), "⏎", "zoom", VIEW, "Zoom: chart of the selected metric", "zoom"),
    KeyBinding(("c",), "c", "compare", VIEW, "Compare runs on the selected metric", "compare"),
    KeyBinding(("e",), "e", "explain", VIEW, "Explain the selected metric", "explain"),
    KeyBinding(("f",), "f", "findings", FINDINGS, "All findings with their evidence", "findings"),
    KeyBinding(
        ("left_square_bracket",),
        "[",
        "step_back",
        TIME,
        "One update back; hold to speed up",
        "back",
    ),
    KeyBinding(
        ("right_square_bracket",),
        "]",
        "step_forward",
        TIME,
        "One update forward; hold to speed up",
        "fwd",
    ),
    KeyBinding(("n",), "n", "next_finding", TIME, "Next finding", "next finding"),
    KeyBinding(("N", "upper_n"), "N", "previous_finding", TIME, "Previous finding"),
    KeyBinding(("space",), "space", "pause", TIME, "Play or pause", "play"),
    KeyBinding(("greater_than_sign",), ">", "faster", TIME, "Play faster"),
    KeyBinding(("less_than_sign",), "<", "slower", TIME, "Play slower"),
    KeyBinding(("home",), "Home", "first", TIME, "First update (in the run list: first run)"),
    KeyBinding(
        ("end",), "End", "latest", TIME, "Latest update, live (in the run list: last run)", "latest"
    ),
    KeyBinding(("g",), "g", "jump", TIME, "Go to a step or a percentage"),
    KeyBinding(("up", "k"), "↑", "up", MOVE, "Up"),
    KeyBinding(("down", "j"), "↓", "down", MOVE, "Down"),
    KeyBinding(("tab",), "Tab", "switch_focus", MOVE, "Switch focus: runs / metrics"),
    KeyBinding(("pageup",), "PgUp", "page_up", MOVE, "Page up"),
    KeyBinding(("pagedown",), "PgDn", "page_down", MOVE, "Page down"),
    KeyBinding(("escape",), "Esc", "back", MOVE, "Back; clears the filter"),
    KeyBinding(("comma",), ",", "previous_run", MOVE, "Previous run"),
    KeyBinding(("full_stop",), ".", "next_run", MOVE, "Next run"),
    KeyBinding(("t",), "t", "fold", MOVE, "Fold or unfold seed groups"),
    KeyBinding(("1",), "1", "toggle_runs", VIEW, "Toggle run list (Tab: full table)"),
    KeyBinding(("2",), "2", "toggle_finding", VIEW, "Toggle verdict"),
    KeyBinding(("3",), "3", "toggle_values", VIEW, "Toggle crucial values"),
    KeyBinding(("4",), "4", "toggle_panels", VIEW, "Toggle charts"),
    KeyBinding(("5", "o"), "5", "console", VIEW, "Console output"),
    KeyBinding(("6", "i"), "6", "config", VIEW, "Configuration and sources"),
    KeyBinding(("x",), "x", "axis", VIEW, "Chart: x axis by step, time or update"),
    KeyBinding(("l",), "l", "log_scale", VIEW, "Chart: log scale"),
    KeyBinding(("plus", "equals_sign"), "+", "more_smooth", VIEW, "Chart: more smoothing"),
    KeyBinding(("minus",), "-", "less_smooth", VIEW, "Chart: less smoothing"),
    KeyBinding(("0",), "0", "no_smooth", VIEW, "Chart: no smoothing"),
    KeyBinding(("left",), "←", "left", VIEW, "Chart: cursor left"),
    KeyBinding(("right",), "→", "right", VIEW, "Chart: cursor right"),
    KeyBinding(("s",), "s", "stack", VIEW, "Stack related charts, shared cursor"),
    KeyBinding(("a",), "a", "acknowledge", FINDINGS, "Acknowledge the finding, with a reason"),
    KeyBinding(("m",), "m", "mute", FINDINGS, "Mute the finding's rule for this run"),
    KeyBinding(("b",), "b", "bell", PROGRAM, "Toggle bell on critical"),
    KeyBinding(("T", "upper_t"), "T", "theme", PROGRAM, "Next theme"),
    KeyBinding(("r", "ctrl+l"), "r", "redraw", PROGRAM, "Reload and redraw"),
    KeyBinding(("ctrl+p", "colon"), "Ctrl+P", "palette", PROGRAM, "Command palette"),
    KeyBinding(("ctrl+z",), "Ctrl+Z", "suspend", PROGRAM, "Suspend (fg resumes)"),
)

BINDING_BY_KEY: dict[str, KeyBinding] = {name: key for key in KEY_BINDINGS for name in key.keys}


def key_table() -> str:
    """The key table in Markdown, for the README."""
    rows = ["| key | what it does |", "|---|---|"]
    for group in KEY_GROUPS:
        rows.append(f"| **{group}** | |")
        for key in KEY_BINDINGS:
            if key.group == group:
                shown = "`" + key.label.replace("|", "\\|") + "`"
                rows.append(f"| {shown} | {key.description} |")
    return "\n".join(rows) + "\n"
