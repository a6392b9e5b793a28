"""The list of runs: order, filter, groups of seeds, sums."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from ppo_top.cli import main
from ppo_top.model import ConfigValue, State, Status, Verdict
from ppo_top.rules.book import BY_ID
from ppo_top.tui.draw.layout import MIN_SIDEBAR_CELLS
from ppo_top.tui.draw.run_table import names_width, run_table_widths
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.listed_run import ListedRun, WorstFinding, default_run
from ppo_top.tui.state.run_list import RunList
from ppo_top.tui.state.snapshot import RunCounts, RunListEntry
from ppo_top.tui.state.take_snapshot import count_runs, take_snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import make_run_view
from ppo_top.views.seed_groups import run_traits
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.screens import FakeClock, drawn_text, write_seed, write_unhealthy_run
from tests.tui.conftest import MakeUiState


def known(
    name: str, verdict: str = "healthy", state: State = State.LIVE, newest: float = 0
) -> ListedRun:
    """A run as the list knows it."""
    return ListedRun(
        name, name, f"runs/{name}", Verdict(verdict), state, newest, run_traits(name, {})
    )


def age_alike(runs: Path) -> None:
    """All logs were written last at the same time, long before the clock of the screen."""
    for log in runs.rglob("*.csv"):
        os.utime(log, (1_799_000_000, 1_799_000_000))


@pytest.fixture
def seeds(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """Three seeds, one of them red, and a run of its own."""
    runs = (("pole_seed1", 99), ("pole_seed2", 20), ("pole_seed3", 99), ("other", 99))
    for seed, (name, broken) in enumerate(runs, 17):
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, broken_from=broken, first_reward=seed)
    age_alike(tmp_path)
    return make_ui_state(tmp_path / "runs")


def test_trouble_comes_first_and_the_order_is_stable(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """A red run stands before healthy ones, and these by name: runs that write in turn stay put."""
    ages = {"older": (99, 300), "red": (20, 900), "newer": (99, 10)}
    for name, (broken, age) in ages.items():
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, broken_from=broken)
        os.utime(log, (1_799_999_000 - age, 1_799_999_000 - age))
    ui = make_ui_state(tmp_path / "runs")
    assert [each.name for each in ui.listed_runs()] == ["red", "newer", "older"]
    assert ui.run is not None and ui.run.name == "red"  # what one came to see
    os.utime(tmp_path / "runs/older/progress.csv")
    assert [each.name for each in ui.listed_runs()] == ["red", "newer", "older"]


def write_marked_runs(runs: Path, now: float) -> None:
    """A red run, a good one, one that was written some time ago, one with a value out of range."""
    lines = (DEMO_LOGS_FOLDER / "sb3_cartpole" / "progress.csv").read_text().splitlines(True)
    for name, count in (("whole", len(lines)), ("stalled", len(lines)), ("watched", 40)):
        (runs / name).mkdir(parents=True)
        (runs / name / "progress.csv").write_text("".join(lines[:count]))
    write_unhealthy_run(runs / "sick" / "progress.csv")
    with (runs / "watched" / "progress.csv").open("a") as watched:
        cells = dict(zip(lines[0].strip().split(","), lines[40].strip().split(","), strict=True))
        cells["train/approx_kl"] = "0.05"
        watched.write(",".join(cells.values()) + "\n")
    for log in runs.glob("*/progress.csv"):
        age = 1_000 if log.parent.name == "stalled" else 100_000
        os.utime(log, (now - age, now - age))


def test_the_list_marks_runs_as_their_own_pages_do(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Amber is also what is stalled, or has a value out of its range; amber ones stand together."""
    runs = tmp_path / "runs"
    write_marked_runs(runs, FakeClock().now)
    with (runs / "stalled" / "progress.csv").open("a"):  # a process has it open
        ui = make_ui_state(runs)
        pages = {}
        for listed in ui.listed_runs():
            ui.choose_run(listed.id)
            view = ui.view()
            assert view is not None
            pages[listed.name] = view.headline_status
        marks = {each.name: each.mark for each in ui.listed_runs()}
    assert marks == pages
    assert list(marks.items()) == [
        ("sick", Status.CRIT),
        ("stalled", Status.WATCH),
        ("watched", Status.WATCH),
        ("whole", Status.OK),
    ]


def test_a_finding_stands_above_a_healthy_run_with_the_same_mark(
    tmp_path: Path, make_ui_state: MakeUiState, capsys: pytest.CaptureFixture[str]
) -> None:
    """Amber for a finding comes before amber for a value, also where that was written later."""
    runs = tmp_path / "runs"
    write_marked_runs(runs, FakeClock().now)
    os.utime(runs / "sick" / "progress.csv", (0, 0))
    eased = "".join(f"{rule}.milder = 2\n" for rule in BY_ID)
    (runs / "ppo-top.toml").write_text(f"[rules]\n{eased}kl-spike.mute = true\n")
    main(["check", str(runs), "--json"])
    checked = json.loads(capsys.readouterr().out)["runs"]
    verdicts = {run["name"]: run["verdict"] for run in checked}
    assert verdicts["sick"] == "watch" and verdicts["watched"] == "healthy"
    assert [*verdicts][:2] == ["sick", "watched"]
    assert listed_names(make_ui_state(runs))[0] == "sick"


def test_runs_are_counted_by_verdict_wherever_they_are_counted(
    tmp_path: Path, make_ui_state: MakeUiState, capsys: pytest.CaptureFixture[str]
) -> None:
    """Screen, `check` and `status`: one that is stalled or out of range is healthy."""
    runs = tmp_path / "runs"
    write_marked_runs(runs, FakeClock().now)
    with (runs / "stalled" / "progress.csv").open("a"):  # a process has it open
        header = drawn_text(make_ui_state(runs), 140, 40)[0]
    assert "✗ 1 crit · ▲ 1 watch · 1 stalled · 3 ended" in header
    main(["check", str(runs)])
    assert "\n4 runs: 1 crit, 1 watch, 2 healthy\n" in capsys.readouterr().out
    main(["status", str(runs)])
    assert capsys.readouterr().out.endswith(" · 1 crit, 1 watch, 2 healthy\n")


def test_the_screen_lists_runs_in_the_order_of_check(
    tmp_path: Path, make_ui_state: MakeUiState, capsys: pytest.CaptureFixture[str]
) -> None:
    """The worst first; of equally bad ones those that are live, by name, then the newest."""
    now, red, green = time.time(), 20, 99
    for name, broken, age in (
        ("d-old", red, 300_000),
        ("e-new", red, 200_000),
        ("b-live", red, 3),
        ("a-live", red, 9),
        ("c-well", green, 100),
    ):
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, broken_from=broken)
        os.utime(log, (now - age, now - age))
    ui = make_ui_state(tmp_path / "runs")
    ui.clock, ui.run_list.fold_seeds = FakeClock(now), False
    ui.invalidate()
    assert listed_names(ui) == ["a-live", "b-live", "e-new", "d-old", "c-well"]
    main(["check", str(tmp_path / "runs"), "--json"])
    checked = json.loads(capsys.readouterr().out)["runs"]
    assert [run["name"] for run in checked] == listed_names(ui)
    main(["status", str(tmp_path / "runs")])
    assert capsys.readouterr().out.startswith("✗ a-live")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pole", {"pole_seed1", "pole_seed2", "pole_seed3"}),
        ("POLE seed2", {"pole_seed2"}),
        ("crit", {"pole_seed2"}),
        ("!crit", {"pole_seed1", "pole_seed3", "other"}),
        ("large updates", {"pole_seed2"}),
        ("!pole", {"other"}),
        ("nothing like it", set()),
    ],
)
def test_the_filter_knows_names_verdicts_and_states(
    seeds: UiState, words: str, found: set[str]
) -> None:
    """All words must be found; one with `!` must not."""
    seeds.run_list.filter = words
    assert {each.name for each in seeds.run_list.filtered(seeds.listed_runs())} == found


def test_the_word_of_a_severity_is_no_part_of_a_finding() -> None:
    """`/crit` does not find "Critic has not learned"; nor what is only named so."""
    runs = [
        replace(known("a", "warn"), worst=WorstFinding("Critic has not learned")),
        known("critic-lr", "healthy"),
        known("b", "crit"),
        replace(known("c"), outside="approx KL out of range"),
    ]
    found = {
        words: [each.name for each in RunList(filter=words).filtered(runs)]
        for words in ("crit", "critic", "warn", "watch", "crit a")
    }
    assert found == {
        "crit": ["b"],
        "critic": ["a", "critic-lr"],
        "warn": ["a"],
        "watch": ["c"],
        "crit a": [],
    }


def test_an_amber_mark_says_what_is_out_of_range(
    tmp_path: Path, make_ui_state: MakeUiState, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the table of the screen as in that of `check`, though it is no finding."""
    for name in ("a", "b"):
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, broken_from=500)
        if name == "a":
            log.write_text(log.read_text().rstrip().rpartition(",")[0] + ",0.3\n")
    ui = make_ui_state(tmp_path / "runs")
    ui.focus, ui.hidden_sections, ui.run_list.fold_seeds = "runs", frozenset({"runs"}), False
    main(["check", str(tmp_path / "runs")])
    checked = capsys.readouterr().out.splitlines()
    for lines in (drawn_text(ui, 140, 10), checked):
        (found,) = (" ".join(line.split()) for line in lines if " a " in line)
        assert found.startswith("▲ a ")
        assert "clip fraction out of range" in found
    ui.run_list.filter = "clip"
    assert listed_names(ui) == ["a"]


def test_seeds_fold_into_one_line_with_the_worst_verdict(seeds: UiState) -> None:
    """Three seeds are one line with the verdict of the worst; opened, they are three."""
    seeds.choose_run(next(run.id for run in seeds.session.runs.values() if run.name == "other"))
    entries = seeds.run_list.entries(seeds.listed_runs(), seeds.chosen_run_id)
    assert [(entry.name, entry.seeds) for entry in entries] == [("pole", 3), ("other", 1)]
    assert "✗ ▸ pole 1/3" in " ".join("\n".join(drawn_text(seeds, 140, 40)).split())
    assert entries[0].verdict == "crit"
    assert seeds.run_list.unfold(seeds.session, seeds.clock(), entries[0].id)
    opened = seeds.run_list.entries(seeds.listed_runs(), seeds.chosen_run_id)
    assert [entry.member for entry in opened] == [False, True, True, False]


def test_arrows_unfold_and_fold_a_group_and_leave_the_time_alone(seeds: UiState) -> None:
    """As in a tree of files, also from one of the seeds."""
    seeds.focus = "runs"
    actions = Actions(seeds)
    first = seeds.run_list.entries(seeds.listed_runs(), "")[0].id
    seeds.choose_run(first)

    def lines() -> int:
        return len(seeds.run_list.entries(seeds.listed_runs(), seeds.chosen_run_id))

    shown = []
    for act in (actions.do_left, actions.do_right, actions.do_down, actions.do_left):
        act()
        shown.append((lines(), seeds.chosen_run_id == first))
    assert shown == [(2, True), (4, True), (4, False), (2, True)]
    actions.do_right()
    actions.do_left()
    assert lines() == 2
    assert seeds.cursor.row is None


def test_a_copy_hides_no_run_of_the_same_name() -> None:
    """As where another machine's run, listed under its host, is a copy of one of this machine."""
    here = replace(known("lr"), id="here/lr")
    there = replace(known("node3: lr"), id="lr", copy_of="lr")
    every = [here, there]
    assert RunList().in_list_order(every) == every
    assert [entry.id for entry in RunList().entries(every, "")] == ["here/lr", "lr"]


def test_folding_can_be_switched_off(seeds: UiState) -> None:
    """Without folding each seed has its line."""
    seeds.run_list.fold_seeds = False
    assert len(seeds.run_list.entries(seeds.listed_runs(), seeds.chosen_run_id)) == 4


def test_sums_are_over_all_runs() -> None:
    """Each state by itself (a death is no end like others), each verdict, whatever is shown."""
    every = [
        known("a", "crit"),
        known("b", "warn", State.FINISHED),
        known("c", "watch", State.STALLED),
        known("d", "healthy", State.DIED),
        known("e", "unjudged", State.STARTING),
    ]
    assert count_runs(every, 1) == RunCounts(
        live=1,
        finished=1,
        total=5,
        shown=1,
        stalled=1,
        starting=1,
        died=1,
        verdicts={Verdict(each.verdict): 1 for each in every},
    )


def test_the_worst_run_is_looked_at_first() -> None:
    """If all are well it is the live one that was written last, or the newest."""
    red = known("red", "crit", State.FINISHED, 50)
    live = [known("old", newest=10), known("new", newest=20)]
    first = default_run([red, *live])
    assert first is not None and first.name == "red"
    well = default_run([*live, known("over", state=State.FINISHED, newest=30)])
    assert well is not None and well.name == "new"
    assert default_run([]) is None


def test_live_runs_that_write_in_turn_do_not_take_the_screen_in_turn(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """While logs are still read the newest live run is chosen; after that the choice stays."""
    for name, age in (("first", 20), ("second", 10)):
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, broken_from=99)
        os.utime(log, (1_800_000_000 - age, 1_800_000_000 - age))
    ui = make_ui_state(tmp_path / "runs")
    by_name = {run.name: run for run in ui.session.runs.values()}
    assert ui.run is by_name["second"]
    for source in by_name["first"].sources.values():
        source.mtime = 1_800_000_000
    by_name["first"].version += 1
    ui.choose_default_run()
    assert ui.run is by_name["second"]
    ui.session.queue.reader_has_more = True
    ui.choose_default_run()
    assert ui.run is by_name["first"]


def test_hundreds_of_runs_are_listed_quickly(seeds: UiState) -> None:
    """A list scrolls so that the chosen run is on it."""
    every = [known(f"run-{chr(97 + n % 26)}{n}x", newest=n) for n in range(500)]
    entries = RunList().entries(every, "run-a0x")
    assert len(entries) == 500


def test_a_filter_that_hides_the_chosen_run_goes_to_the_first_that_it_shows(seeds: UiState) -> None:
    """After Enter the chosen run is always a listed one; typing alone changes nothing."""
    actions = Actions(seeds)
    seeds.choose_run(next(run.id for run in seeds.session.runs.values() if run.name == "other"))
    actions.do_filter()
    assert seeds.line_input is not None
    seeds.line_input.set_text("pole")
    assert seeds.run is not None and seeds.run.name == "other"
    seeds.line_input.press_key("enter", None)
    assert seeds.run is not None and seeds.run.name == "pole_seed2"
    actions.do_filter()
    seeds.line_input.set_text("pole seed")
    seeds.line_input.press_key("enter", None)
    assert seeds.run.name == "pole_seed2"


def test_the_list_alone_is_a_table_of_what_is_wrong_since_when(seeds: UiState) -> None:
    """With the screen to itself, it shows finding, step, reward and state next to the name."""
    seeds.run_list.fold_seeds = False
    Actions(seeds).do_switch_focus()
    lines = drawn_text(seeds, 100, 24)
    assert "finding" in lines[1] and "since" in lines[1] and "reward" in lines[1]
    red = next(line for line in lines if "pole_seed2" in line)
    run = next(run for run in seeds.session.runs.values() if run.name == "pole_seed2")
    worst = make_run_view(run).open_findings[0].finding
    assert worst.title in red and f"{worst.since.step:,}" in red
    healthy = next(line for line in lines if "other" in line)
    assert worst.title not in healthy and "180" in healthy
    assert all(len(line) == 100 for line in lines)


def listed_names(ui: UiState) -> list[str]:
    """The names in the list, from above."""
    return [entry.name for entry in take_snapshot(ui).entries]


def test_unfolded_seeds_stand_side_by_side(seeds: UiState) -> None:
    """The red seed comes first and draws the others to it, before the run of another experiment."""
    seeds.run_list.fold_seeds = False
    assert listed_names(seeds) == ["pole_seed2", "pole_seed1", "pole_seed3", "other"]
    place = {}
    for entry in take_snapshot(seeds).entries:
        seeds.choose_run(entry.id)
        place[entry.name] = take_snapshot(seeds).position
    assert list(place.values()) == [1, 2, 3, 4]


def test_hiding_the_list_leaves_it(seeds: UiState) -> None:
    """It may fill the screen; what is said of it is what one sees."""
    actions = Actions(seeds)
    actions.do_switch_focus()
    actions.do_toggle_runs()
    shown = drawn_text(seeds, 140, 40)
    assert "Run list hidden" in shown[-1]
    assert not any(" Runs " in row for row in shown)
    assert any("Crucial values" in row for row in shown)


def test_a_key_sorts_the_list_and_says_how(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """By severity, by name with numbers as numbers, newest first, farthest first, and round."""
    for name, broken, updates, age in (
        ("a10", 99, 10, 900),
        ("a9", 20, 40, 500),
        ("c", 99, 20, 10),
    ):
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, updates, broken)
        os.utime(log, (1_799_999_000 - age, 1_799_999_000 - age))
    ui = make_ui_state(tmp_path / "runs")
    ui.run_list.fold_seeds = False
    actions = Actions(ui)
    seen = []
    for _ in range(5):
        said = next(row for row in drawn_text(ui, 140, 40) if " Runs " in row)
        seen.append((said.split("by ")[1].split()[0], listed_names(ui)))
        actions.do_sort()
    assert seen == [
        ("severity", ["a9", "c", "a10"]),
        ("name", ["a9", "a10", "c"]),
        ("newest", ["c", "a9", "a10"]),
        ("step", ["a9", "c", "a10"]),
        ("severity", ["a9", "c", "a10"]),
    ]
    assert ui.toast == "Runs by name"
    assert default_run(ui.listed_runs()[::-1]) == ui.listed_runs()[0]


def test_a_run_that_changed_since_one_looked_is_marked(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Its new verdict stands behind a dot until one selects it, not while it is looked at."""
    for name in ("a", "b"):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv", broken_from=99)
    age_alike(tmp_path)
    ui = make_ui_state(tmp_path / "runs")
    ui.run_list.fold_seeds = False
    ui.mark_runs_seen(())
    first, other = (entry.id for entry in take_snapshot(ui).entries)
    ui.choose_run(first)

    def changed() -> list[str]:
        return [entry.id for entry in take_snapshot(ui).entries if entry.changed]

    assert changed() == []
    ui.run_list.verdict_of = lambda run, row: Verdict.CRIT
    ui.invalidate()
    assert changed() == [other]
    assert any("•" in row and " b " in row for row in drawn_text(ui, 140, 40))
    ui.choose_run(other)
    ui.choose_run(first)
    assert changed() == []


def test_home_and_end_are_the_ends_of_the_list(seeds: UiState) -> None:
    """With the keys in the list they move in it; elsewhere they travel in time."""
    actions = Actions(seeds)
    seeds.run_list.fold_seeds = False
    ids = [entry.id for entry in take_snapshot(seeds).entries]
    actions.do_switch_focus()
    actions.do_latest()
    assert seeds.chosen_run_id == ids[-1]
    actions.do_first()
    assert (seeds.chosen_run_id, seeds.cursor.row) == (ids[0], None)
    actions.do_switch_focus()
    actions.do_first()
    assert (seeds.chosen_run_id, seeds.cursor.row) == (ids[0], 0)


def test_wide_letters_move_no_column_of_the_table(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Nor does a row end before its state."""
    for reward, name in enumerate(("实验-α 一", "🚀 rocket", "run with blanks"), 20):
        log = tmp_path / "runs" / name / "progress.csv"
        write_unhealthy_run(log, first_reward=reward)
    ui = make_ui_state(tmp_path / "runs")
    Actions(ui).do_switch_focus()
    rows = [row for row in drawn_text(ui, 100, 30) if "Destructively" in row]
    assert len(rows) == 3
    assert len({cell_len(row.partition("Destructively")[0]) for row in rows}) == 1
    assert all("ended" in row or "live" in row for row in rows)


def test_a_narrow_list_keeps_the_names(seeds: UiState) -> None:
    """Reward, step and state go before the finding, and everything before the names."""
    entries = seeds.run_list.entries(seeds.listed_runs(), seeds.chosen_run_id)
    assert run_table_widths(entries, 140).step and run_table_widths(entries, 140).state
    assert run_table_widths(entries, 62).finding and not run_table_widths(entries, 62).state
    assert run_table_widths(entries, 40).name == 34 and not run_table_widths(entries, 40).finding


def test_the_list_next_to_a_run_is_as_wide_as_its_names(seeds: UiState) -> None:
    """No name loses its middle while there is room; a fourth of the screen is the most."""
    long = RunListEntry("x", "ppo-a-rather-long-name-s11", Verdict.CRIT, Status.CRIT, State.LIVE)
    assert names_width([long]) == len(long.name) + 6
    for run in seeds.session.runs.values():
        run.name = run.name.replace("other", long.name)
    seeds.invalidate()
    assert long.name in "\n".join(drawn_text(seeds, 140, 40))
    walls = {line.index("│") for line in drawn_text(seeds, 112, 40)[1:-1]}
    assert walls == {28} and MIN_SIDEBAR_CELLS < 28


def test_the_title_counts_runs_and_not_lines(seeds: UiState) -> None:
    """Seeds that are folded into one line are counted each."""
    assert any("Runs  4" in line for line in drawn_text(seeds, 140, 40))


def test_what_is_acknowledged_is_not_named_in_the_list(seeds: UiState) -> None:
    """The finding next to a run's name is the worst that is not acknowledged."""
    run = next(run for run in seeds.session.runs.values() if run.name == "pole_seed2")
    before = next(known for known in seeds.listed_runs() if known.id == run.id)
    assert before.worst.title and before.worst.since
    for finding in run.findings:
        seeds.acknowledgements.acknowledge(run.path, finding.rule, finding.since.step, "known")
    seeds.invalidate()
    after = next(known for known in seeds.listed_runs() if known.id == run.id)
    assert after.worst.title == after.worst.since == ""


def test_what_is_told_once_is_acknowledged_once(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """With a reward below its start it is known that it has not risen, in page and list alike."""
    rows = ["time/total_timesteps,rollout/ep_rew_mean,train/approx_kl"]
    for number in range(1, 600):
        reward = 20.0 + number % 3 if number <= 9 else 9.5 + number % 5 / 10
        rows.append(f"{number * 512},{reward},0.01")
    (tmp_path / "progress.csv").write_text("\n".join(rows) + "\n")
    ui = make_ui_state(tmp_path)
    run, view = ui.run, ui.view()
    assert run is not None and view is not None
    (shown,) = view.open_findings
    ui.acknowledgements.acknowledge(run.path, shown.finding.rule, shown.finding.since.step, "known")
    ui.invalidate()
    view = ui.view()
    assert view is not None
    assert not ui.listed_runs()[0].verdict.is_trouble and not view.verdict.is_trouble


def test_page_and_list_agree_whatever_is_acknowledged(make_ui_state: MakeUiState) -> None:
    """With each open finding acknowledged in turn, a run has one verdict in both."""
    ui = make_ui_state(DEMO_LOGS_FOLDER)
    for run in ui.session.runs.values():
        ui.choose_run(run.id)
        opened = make_run_view(run).open_findings
        for finding in (each.finding for each in opened):
            ui.acknowledgements.acknowledge(run.place, finding.rule, finding.since.step)
            ui.invalidate()
            view, (listed,) = ui.view(), [each for each in ui.listed_runs() if each.id == run.id]
            assert view is not None
            assert (listed.verdict, run.name) == (view.verdict, run.name)
            ui.acknowledgements.revoke(run.place, finding.rule)


def test_a_run_that_crashed_before_its_first_update_is_in_trouble_in_the_list(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """It has no row, but its finding stands in the list, also once another one is acknowledged."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text(
            "Traceback (most recent call last):\nValueError: no such environment\n"
        )
    ui = make_ui_state(tmp_path)
    assert {each.finding for each in ui.listed_runs()} == {"Training process crashed"}
    assert not any(each.worst.since for each in ui.listed_runs())
    run, view = ui.run, ui.view()
    assert run is not None and view is not None
    ui.acknowledgements.acknowledge(run.place, "crashed", view.open_findings[0].finding.since.step)
    ui.invalidate()
    others = [each for each in ui.listed_runs() if each.id != run.id]
    assert [each.verdict for each in others] == [Verdict.CRIT]


def test_a_duplicate_is_marked_and_no_seed(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """A copied directory would make the mean of seeds look surer than it is."""
    for name in ("pole_seed1", "pole_seed2", "pole_seed2_copy"):
        reward = int(name.split("seed")[1][0])
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv", first_reward=reward)
    ui = make_ui_state(tmp_path / "runs")
    entries = ui.run_list.entries(ui.listed_runs(), "")
    assert sorted((entry.name, entry.seeds, entry.is_copy) for entry in entries) == [
        ("pole", 2, False),
        ("pole_seed2_copy", 1, True),
    ]
    ui.run_list.filter = "copy"
    assert [each.name for each in ui.run_list.filtered(ui.listed_runs())] == ["pole_seed2_copy"]


SETTINGS: dict[str, ConfigValue] = {
    "learning_rate": 3e-4, "clip_range": 0.2, "n_steps": 2048, "gamma": 0.99, "gae_lambda": 0.95,
}  # fmt: skip


@pytest.fixture
def named(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """Two runs with unrelated names and settings that differ only in the seed."""
    for reward, name in enumerate(("bold-sun", "calm-sea"), 20):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv", first_reward=reward)
    ui = make_ui_state(tmp_path / "runs")
    for seed, run in enumerate(ui.session.runs.values()):
        run.evaluation.config.update({**SETTINGS, "seed": seed})
    ui.run_list.invalidate()
    ui.choose_run(ui.listed_runs()[0].id)
    return ui


def test_unfolded_seeds_are_sorted_one_by_one_by_all_but_severity(
    tmp_path: Path, named: UiState, make_ui_state: MakeUiState
) -> None:
    """By name, a run stands where its name belongs, whatever its experiment is."""
    write_unhealthy_run(tmp_path / "runs" / "bronze" / "progress.csv", first_reward=30)
    age_alike(tmp_path)
    ui = make_ui_state(tmp_path / "runs")
    for seed, name in enumerate(("bold-sun", "calm-sea")):
        run = next(run for run in ui.session.runs.values() if run.name == name)
        run.evaluation.config.update({**SETTINGS, "seed": seed})
    ui.run_list.fold_seeds = False
    ui.invalidate()
    assert listed_names(ui) == ["bold-sun", "calm-sea", "bronze"]
    Actions(ui).do_sort()
    assert listed_names(ui) == ["bold-sun", "bronze", "calm-sea"]


def test_the_list_folds_them_and_compare_draws_their_mean(named: UiState) -> None:
    """Both use the same groups."""
    lines = "\n".join(drawn_text(named, 140, 40))
    assert "▸ " in lines and " ×2 " in lines
    named.overlay, named.concept = "compare", "reward_mean"
    lines = "\n".join(drawn_text(named, 120, 40))
    assert "(2 seeds)" in lines
    assert "other seed" in lines


@pytest.fixture
def uneven_seeds(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """Six seeds of which one learns little."""
    for seed in range(1, 7):
        write_seed(tmp_path / f"ppo_{seed}" / "progress.csv", seed, 60 if seed == 4 else 400 + seed)
    ui = make_ui_state(tmp_path)
    assert ui.siblings.update(ui.session)
    ui.choose_run(next(listed.id for listed in ui.listed_runs() if listed.name == "ppo_4"))
    return ui


def test_a_run_far_below_its_siblings_says_so(uneven_seeds: UiState) -> None:
    """In the list, folded too, and below its headline; its verdict stays what it is."""
    lines = drawn_text(uneven_seeds, 160, 40)
    assert any("below all of 5 others at this step" in each for each in lines)
    entries = uneven_seeds.run_list.entries(uneven_seeds.listed_runs(), "")
    assert [each.finding for each in entries] == ["Below all of 5 others"]
    assert {each.verdict for each in uneven_seeds.listed_runs()} == {Verdict.HEALTHY}
    uneven_seeds.overlay = "findings"
    assert any("below all of 5 others" in each for each in drawn_text(uneven_seeds, 160, 40))


def test_the_past_of_a_run_is_not_compared(uneven_seeds: UiState) -> None:
    """The remark is about the newest row."""
    uneven_seeds.cursor.row = 20
    assert not any("below all" in each for each in drawn_text(uneven_seeds, 160, 40))


def test_nothing_is_compared_again_while_nothing_changes(uneven_seeds: UiState) -> None:
    """A second look says nothing new."""
    assert not uneven_seeds.siblings.update(uneven_seeds.session)
