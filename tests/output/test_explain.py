"""The texts on every metric, rule and option."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ppo_top.catalogue import concepts, identify, options, trainer_tables
from ppo_top.cli import main
from ppo_top.output.explain import GRADE_MEANINGS, UnknownName, explain
from ppo_top.output.explained_names import explained_names
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.rule import Rule
from ppo_top.text.page import MIN_PAGE_WIDTH, Page

SB3 = identify(["rollout/ep_rew_mean", "train/clip_fraction"])
TRL = identify(["objective/rlhf_reward"])


def text(name: str | None, width: int = 100, **of_the_run: Any) -> str:
    """An explanation as one text."""
    return "\n".join(explain(name, width, **of_the_run))


@pytest.mark.parametrize("name", sorted(concepts()))
def test_every_concept_is_explained(name: str) -> None:
    """Its meaning, a range or the word that there is none, and where it is logged."""
    shown = text(name)
    assert concepts()[name].label in shown
    assert concepts()[name].meaning.split()[0] in shown
    assert "Healthy" in shown
    assert "Logged as" in shown


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_is_explained(rule: Rule) -> None:
    """What it sees, why that happens, what to try and whose limits they are."""
    shown = " ".join(text(rule.id).split())
    assert rule.title in shown
    assert rule.description.split()[0] in shown
    assert all(cause.split()[0] in shown for cause in rule.causes)
    assert GRADE_MEANINGS[rule.grade] in shown
    assert f"[rules.{rule.id}]" in shown or not rule.limits
    assert "{" not in shown.replace("{f}", "")
    assert "Applies to metrics trainers" not in shown, "a row without a word"


@pytest.mark.parametrize("name", sorted({option.canonical for option in options()}))
def test_every_option_is_explained(name: str) -> None:
    """It shows what trainers call it and take by default, also where a metric has its name."""
    assert "Name and default by trainer" in text(name)


@pytest.mark.parametrize("words", [["explained", "variance"], ["Reward", "collapsed"]])
def test_a_name_of_two_words_needs_no_quotes(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands on the screen, so it is asked for."""
    assert main(["explain", *words]) == 0
    said = capsys.readouterr().out
    assert main(["explain", " ".join(words)]) == 0
    assert said == capsys.readouterr().out and words[-1][:3] in said.splitlines()[0]


def test_several_names_are_explained_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    """As the usage says; one that means nothing is an error, whatever the others are."""
    each = []
    for name in ("kl-high", "entropy"):
        assert main(["explain", name]) == 0
        each.append(capsys.readouterr().out)
    assert main(["explain", "kl-high", "entropy"]) == 0
    assert capsys.readouterr().out == "".join(f"{page}\n" for page in each)
    assert main(["explain", "kl-high", "no-such-thing"]) == 2
    assert capsys.readouterr().out == ""


def test_an_option_is_explained_by_the_name_that_advice_uses() -> None:
    """`raise ent_coef`: first the option of SB3, then the metric that Baselines logs so."""
    shown = text("ent_coef")
    assert shown.index("(option)") < shown.index("ent_coef, as Baselines logs it")
    assert "ent_coef = 0" in shown
    assert "probably" not in text("entropy_coeff")


@pytest.mark.parametrize("trainer", sorted(trainer_tables()))
def test_every_tag_that_means_something_is_explained(trainer: str) -> None:
    """A tag leads to its concept, whatever its trainer."""
    for entry in trainer_tables()[trainer].entries.values():
        if entry.concept != "-" and "ignore" not in entry.modifiers:
            shown = text(entry.tag.replace("{f}", "x"))
            assert "Healthy" in shown or "Fires when" in shown, entry.tag


def test_a_tag_says_whose_it_is() -> None:
    """A tag that is looked up is traced to the trainers that write it."""
    assert "objective/kl, as TRL PPO (legacy) and TRL PPO log it" in text("objective/kl")
    assert "train/entropy_loss, as SB3 PPO logs it" in text("train/entropy_loss", trainer=SB3)


def test_one_tag_may_mean_two_things() -> None:
    """Without a run at hand every meaning is explained; with one, only its own."""
    both = text("train/entropy_loss")
    assert "OpenRLHF" in both
    assert "minus the entropy" in both
    assert "OpenRLHF" not in text("train/entropy_loss", trainer=SB3)


def test_a_tag_is_known_without_the_group_before_it() -> None:
    """SB3's console prints `ep_rew_mean` below `rollout/`."""
    first, *others = explain("ep_rew_mean")
    assert first.startswith("ep_rew_mean, as ") and "SB3" in first
    assert any("rollout/ep_rew_mean" in line for line in others)


def test_of_many_tags_the_first_are_listed_unless_all_are_asked_for() -> None:
    """A reward is logged under some eighty; the rest of the page is what one looks for."""
    short, whole = explain("reward"), explain("reward", all_tags=True)
    assert len(short) < len(whole) - 50
    assert re.fullmatch(r"  and \d+ more tags: ppo-top explain -v reward_mean", short[-1])


def test_a_guess_says_that_it_is_one() -> None:
    """A tag that no trainer is known to write is explained by what its name is like."""
    assert "acme/approx_kl: probably this, judging by its name" in text("acme/approx_kl")


def test_advice_is_in_the_words_of_the_trainer_with_the_values_of_the_run() -> None:
    """Each trainer has its own names for the same options."""
    shown = " ".join(text("kl-high", trainer=SB3, config={"learning_rate": 0.03}).split())
    assert "learning_rate (0.03 now; SB3's default is 0.0003)" in shown
    assert "num_ppo_epochs" in text("kl-high", trainer=TRL)


def test_advice_says_what_it_is_for() -> None:
    """A KL that is too high and one that is zero ask for opposite things; nothing is said twice."""
    lines = [line.strip() for line in text("approx_kl").splitlines()]
    too_far, nothing = (
        lines.index("Update KL too high:"),
        lines.index("No-op updates (KL zero):"),
    )
    assert lines[too_far + 1].startswith("1 lower learning_rate")
    assert lines[nothing + 1].startswith("1 raise learning_rate")
    assert sum("set target_kl to 0.02" in line for line in lines) == 1


def test_ranges_are_those_of_the_family() -> None:
    """The same concept has another healthy range for another kind of trainer."""
    assert "0.001-0.02" in text("approx_kl", trainer=SB3)
    assert "0.001-0.02" not in text("approx_kl", trainer=TRL)


def test_spelling_is_forgiven() -> None:
    """Case, blanks, hyphens and underscores make no difference, nor does the label."""
    expected = text("clip_fraction")
    for name in ("clip fraction", "Clip-Fraction", " clip_fraction "):
        assert text(name) == expected
    assert text("KL-HIGH") == text("kl-high")


def test_a_name_is_known_as_a_console_prints_it() -> None:
    """`KL:` and `KL =` are the KL of a console line."""
    assert text("KL:") == text("KL") == text("KL =")


def test_who_logs_a_tag_is_a_list() -> None:
    """Commas, and one `and` at its end."""
    assert text("train/entropy_loss").startswith(
        "train/entropy_loss, as MILES, slime, Open-Reasoner-Zero, OpenRLHF, custom PPO and SB3 log "
        "it"
    )


def test_a_wrong_name_gets_the_nearest_ones() -> None:
    """A typing error is answered with what was probably meant."""
    with pytest.raises(UnknownName, match=r"did you mean approx_kl"):
        explain("aprox_kl")
    with pytest.raises(UnknownName, match="run `ppo-top explain` for the list"):
        explain("zzzzzz")


def test_a_hostile_name_is_made_harmless() -> None:
    """What is asked for is shown again only without what a terminal would obey."""
    with pytest.raises(UnknownName) as caught:
        explain("\x1b]0;owned\x07")
    assert "\x1b" not in str(caught.value)


def test_without_a_name_there_is_an_index() -> None:
    """Every concept and every rule is listed."""
    shown = text(None)
    assert all(name in shown for name in concepts())
    assert all(rule.id in shown for rule in RULES)


@pytest.mark.parametrize("width", [MIN_PAGE_WIDTH, 40, 80, 140])
def test_no_line_is_longer_than_the_width(width: int) -> None:
    """Whatever is explained fits the terminal."""
    for name in [None, *explained_names()]:
        assert all(len(line) <= width for line in explain(name, width)), name


def test_a_page_is_never_narrower_than_it_can_be() -> None:
    """Below its least width a page is cut off by the terminal instead of falling to pieces."""
    page = Page(5)
    page.add_table([("name", "some words that are longer than the page")])
    assert page.width == MIN_PAGE_WIDTH
    assert len(page.lines) > 1


def test_limits_are_as_well_founded_as_they_are_for_the_trainer_at_hand() -> None:
    """What was checked on control tasks is an estimate for language models."""
    assert GRADE_MEANINGS["C"] in text("critic-not-learning", trainer=SB3)
    assert GRADE_MEANINGS["D"] in text("critic-not-learning", trainer=TRL)
