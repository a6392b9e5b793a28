"""Self-play: the reward of a game against oneself need not rise; the rating should."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppo_top.catalogue import names_self_play
from ppo_top.cli import main
from tests.support.drawn_runs import gauss

UPDATES = 120

MetricCourse = Callable[[int], float]


def level(mean: float, noise: float) -> MetricCourse:
    """A value that stays where it is."""
    return lambda i: mean + gauss(i, noise)


def climb(first: float, last: float, noise: float) -> MetricCourse:
    """A value that rises and levels off."""
    return lambda i: last + (first - last) * 0.96**i + gauss(i, noise)


def climb_and_fall(first: float, best: float, noise: float) -> MetricCourse:
    """A value that rises for two thirds of the run and then loses everything."""
    rise = climb(first, best, noise)
    return lambda i: rise(i) if i < 80 else first + gauss(i, noise)


@pytest.fixture
def verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """What `check --json` says of a log with these metrics and settings."""

    def judge(settings: dict[str, Any] | None = None, **metrics: MetricCourse) -> dict[str, Any]:
        healthy = {
            "entropy": climb(1.4, 0.7, 0.02),
            "policy_loss": level(-0.01, 0.004),
            "value_loss": climb(0.9, 0.3, 0.03),
            "approx_kl": level(0.01, 0.002),
        }
        lines = [
            json.dumps({"update": i, **{name: f(i) for name, f in (healthy | metrics).items()}})
            for i in range(UPDATES)
        ]
        (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
        if settings is not None:
            (tmp_path / "config.json").write_text(json.dumps(settings))
        main(["check", "--json", "--no-cache", str(tmp_path)])
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        return dict(run)

    return judge


def alarms(run: dict[str, Any]) -> set[str]:
    """The rules with a finding at *warn* or *crit*."""
    return {each["rule"] for each in run["findings"] if each["severity"] in ("warn", "crit")}


def test_a_flat_reward_beside_a_rising_rating_is_healthy(verdict: Any) -> None:
    """Both sides get better, and each still wins half of the games."""
    run = verdict(elo=climb(1200, 1600, 8), reward=level(0.0, 0.05))
    assert alarms(run) == set()
    assert run["verdict"] == "healthy"


def test_the_same_reward_without_a_game_has_learned_nothing(verdict: Any) -> None:
    """What the case above is silent about."""
    run = verdict(reward=level(0.0, 0.05))
    assert run["verdict"] != "healthy"


def test_a_rating_that_falls_back_is_found(verdict: Any) -> None:
    """The rating is judged as a reward elsewhere is."""
    run = verdict(elo=climb_and_fall(1200, 1600, 8), reward=level(0.0, 0.05))
    assert "reward-crash" in alarms(run)


def test_a_win_rate_that_returns_to_one_half_is_no_fall(verdict: Any) -> None:
    """A stronger opponent was added to the pool."""
    wins = climb_and_fall(0.5, 0.9, 0.02)
    settings = {"self_play": True}
    assert alarms(verdict(settings, win_rate=wins, reward=lambda i: 2 * wins(i) - 1)) == set()
    assert "reward-crash" in alarms(verdict({"self_play": False}, win_rate=wins))


def test_the_win_rate_against_a_fixed_opponent_decides(verdict: Any) -> None:
    """It falls back, whatever the rewards against oneself say."""
    settings = {"self_play": True}
    flat = level(0.0, 0.05)
    run = verdict(settings, reward=flat, **{"eval/win_rate": climb_and_fall(0.1, 0.9, 0.02)})
    assert "reward-crash" in alarms(run)
    run = verdict(settings, reward=flat, **{"eval/win_rate": climb(0.1, 0.9, 0.02)})
    assert alarms(run) == set()


def test_without_a_rating_the_verdict_says_what_it_cannot_tell(
    verdict: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said of the reward, and that is said."""
    run = verdict({"self_play": True}, reward=level(0.0, 0.05))
    assert alarms(run) == set()
    main(["check", "--no-cache", "--verbose", str(tmp_path)])
    text = " ".join(capsys.readouterr().out.split())
    assert "in self-play only Elo or evaluation games tell of progress" in text


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"self_play": True}, True),
        ({"behaviors.Soccer.self_play.window": 10}, True),
        ({"use-self-play": "true"}, True),
        ({"self_play": False}, False),
        ({"self_play": None, "learning_rate": 3e-4}, False),
        ({"play_video": True}, False),
    ],
)
def test_settings_that_name_self_play(config: dict[str, Any], expected: bool) -> None:
    """By the option's name; an option that is off says nothing."""
    assert names_self_play(config) is expected


@pytest.mark.parametrize(("gain", "told"), [(30.0, False), (300.0, True)])
def test_points_of_a_rating_are_won_and_lost_by_chance(
    verdict: Callable[..., dict[str, Any]], gain: float, told: bool
) -> None:
    """A fall is told, by its own name, of a rating that had been gained."""
    found = verdict(elo=climb_and_fall(1200.0, 1200.0 + gain, gain / 100))
    falls = [each["message"] for each in found["findings"] if each["rule"] == "reward-crash"]
    assert bool(falls) is told
    assert all(message.startswith("Elo fell from ") for message in falls)
