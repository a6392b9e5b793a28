"""The key table: the one source of the app's actions, the footer, the help and README's table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Key:
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

KEYS: tuple[Key, ...] = (
    Key(("q", "ctrl+c"), "q", "quit", PROGRAM, "Quit", "quit"),
    Key(("question_mark", "h", "f1"), "?", "help", PROGRAM, "Help: all keys and symbols", "help"),
    Key(("tab",), "Tab", "switch_focus", MOVE, "Switch focus: runs / metrics", "runs"),
    Key(("full_stop",), ".", "next_run", MOVE, "Next run", "next run"),
    Key(
        ("slash",),
        "/",
        "filter",
        MOVE,
        "Filter runs (Tab: metrics, by regex), search a text",
        "filter",
    ),
    Key(("enter",), "⏎", "zoom", VIEW, "Zoom: chart of the selected metric", "zoom"),
    Key(("c",), "c", "compare", VIEW, "Compare runs on the selected metric", "compare"),
    Key(("e",), "e", "explain", VIEW, "Explain the selected metric", "explain"),
    Key(("f",), "f", "findings", FINDINGS, "All findings with their evidence", "findings"),
    Key(
        ("left_square_bracket",),
        "[",
        "step_back",
        TIME,
        "One update back; hold to speed up",
        "back",
    ),
    Key(
        ("right_square_bracket",),
        "]",
        "step_forward",
        TIME,
        "One update forward; hold to speed up",
        "fwd",
    ),
    Key(("n",), "n", "next_finding", TIME, "Next finding; in a text: next match", "next finding"),
    Key(("exclamation_mark",), "!", "go_to_alert", FINDINGS, "Go to the run that turned red"),
    Key(("N", "upper_n"), "N", "previous_finding", TIME, "Previous finding"),
    Key(("space",), "space", "pause", TIME, "Play or pause", "play"),
    Key(("greater_than_sign",), ">", "faster", TIME, "Play faster"),
    Key(("less_than_sign",), "<", "slower", TIME, "Play slower"),
    Key(("home",), "Home", "first", TIME, "First update (in a list or a text: its beginning)"),
    Key(
        ("end", "G", "upper_g"),
        "End",
        "latest",
        TIME,
        "Latest update, live (in a list or a text: its end)",
        "latest",
    ),
    Key(("g",), "g", "jump", TIME, "Go to a step or a percentage"),
    Key(("up", "k"), "↑", "up", MOVE, "Up"),
    Key(("down", "j"), "↓", "down", MOVE, "Down"),
    Key(("pageup", "ctrl+u"), "PgUp", "page_up", MOVE, "Page up"),
    Key(("pagedown", "ctrl+d"), "PgDn", "page_down", MOVE, "Page down"),
    Key(("escape",), "Esc", "back", MOVE, "Back; clears the filter"),
    Key(("comma",), ",", "previous_run", MOVE, "Previous run"),
    Key(("z",), "z", "pin", VIEW, "Pin the selected metric's chart to the front"),
    Key(("v",), "v", "toggle_compared", MOVE, "Choose the run for comparing (all charts, c, 6)"),
    Key(("t",), "t", "fold", MOVE, "Fold or unfold seed groups"),
    Key(("S", "upper_s"), "S", "sort", MOVE, "Sort runs: severity, name, newest, step"),
    Key(("1",), "1", "toggle_runs", VIEW, "Toggle run list (hidden: Tab shows a full table)"),
    Key(("2",), "2", "toggle_finding", VIEW, "Toggle verdict"),
    Key(("3",), "3", "toggle_values", VIEW, "Toggle crucial values"),
    Key(("4",), "4", "toggle_panels", VIEW, "Toggle charts"),
    Key(("5",), "5", "console", VIEW, "Console output"),
    Key(("E", "upper_e"), "E", "go_to_error", VIEW, "Console: the last error, then the one before"),
    Key(("6",), "6", "config", VIEW, "Configuration and sources"),
    Key(("x",), "x", "axis", VIEW, "Chart: x axis by step, time or update"),
    Key(("l",), "l", "log_scale", VIEW, "Chart: log scale"),
    Key(("plus", "equals_sign"), "+", "more_smooth", VIEW, "Chart: more smoothing"),
    Key(("minus",), "-", "less_smooth", VIEW, "Chart: less smoothing"),
    Key(("0",), "0", "no_smooth", VIEW, "Chart: no smoothing"),
    Key(("i",), "i", "zoom_in", VIEW, "All charts: fewer steps, around the cursor (wheel)"),
    Key(("o",), "o", "zoom_out", VIEW, "All charts: more steps (wheel)"),
    Key(("w",), "w", "write", VIEW, "Chart: write its series to a CSV file (not where logs are)"),
    Key(("y",), "y", "copy", VIEW, "Chart: copy its series to the clipboard (OSC 52)"),
    Key(("left",), "←", "left", VIEW, "Chart: cursor left (in the run list: fold seeds)"),
    Key(("right",), "→", "right", VIEW, "Chart: cursor right (in the run list: unfold)"),
    Key(("s",), "s", "stack", VIEW, "Chart: stack related ones, shared cursor"),
    Key(("a",), "a", "acknowledge", FINDINGS, "Acknowledge the finding, with a reason"),
    Key(("m",), "m", "mute", FINDINGS, "Mute the finding's rule for this run"),
    Key(("b",), "b", "bell", PROGRAM, "Toggle bell on critical"),
    Key(("T", "upper_t"), "T", "theme", PROGRAM, "Next theme"),
    Key(("r", "ctrl+l"), "r", "redraw", PROGRAM, "Reload and redraw"),
    Key(("ctrl+p", "colon"), "Ctrl+P", "palette", PROGRAM, "Command palette"),
    Key(("ctrl+z",), "Ctrl+Z", "suspend", PROGRAM, "Suspend (fg resumes)"),
)

NEEDING_A_RUN = frozenset(key.action for key in KEYS if key.group in (VIEW, TIME, FINDINGS))
"""The actions that have nothing to do before there is a run."""

FASTER_WHEN_HELD = frozenset(("step_back", "step_forward", "left", "right"))
"""The actions that take a number of steps, which grows while the key is held."""

BINDING_BY_KEY: dict[str, Key] = {name: key for key in KEYS for name in key.keys}
