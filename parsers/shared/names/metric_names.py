"""Recognises names of metrics, steps and settings by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath

from ppo_top.parsers.shared.names import languages
from ppo_top.text.lazy_pattern import lazy_pattern

_WORD_PATTERN = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_REWARD_WORDS = word_set(
    "reward rewards rew rwd rwds return returns score scores fitness"
    " recompensa recompensas ricompensa belohnung"
)

METRIC_WORDS = _REWARD_WORDS | word_set(
    """
    rews ret loss losses kl kld approxkl entropy ent clip clipped
    clipfrac clipfraction cliprange grad gradnorm gradient gradients advantage advantages adv advs
    explained variance ev vf pg vloss ploss score scores success accuracy acc perplexity ppl fps sps
    ratio std eprew epret eplen ep episodic episodes value values critic actor policy td qf q
    vpred temperature alpha noise eval timesteps throughput win wins winrate
    exploitability elo
    """
)
"""A name with one of these words is worth charting."""

_MACHINE_WORDS = word_set(
    """
    code status error errors warning warnings pid port line version id gpu gpus memory seed size
    parameters params trainable weights bytes file files exit signal rank device devices workers
    envs env hidden layer layers dim shape limit max_steps args argv statement failed passed tests
    took downloading modules
    """
)
"""A name with one of these words is about the machine or the set-up, not the training."""

_PROSE_WORDS = word_set(
    """
    in the a an of for at after before with took is was were are and or to from by on has have had
    than that this it be been will would should can only about into over under up down out not no
    if when while using got found loaded saved took least most more less every per
    """
)
"""Words of sentences: a number after them without `:` or `=` is prose."""

STEP_AXES = ("timesteps", "step", "iteration", "epoch", "episode")
"""What steps can count, finest first."""

_STEP_WORDS = {
    "globalstep": "step",
    "step": "step",
    "trainstep": "step",
    "trainingstep": "step",
    "trainingglobalstep": "step",
    "totaltimesteps": "timesteps",
    "timesteps": "timesteps",
    "timestep": "timesteps",
    "numtimesteps": "timesteps",
    "totalsteps": "timesteps",
    "totalstep": "timesteps",
    "envsteps": "timesteps",
    "envstep": "timesteps",
    "totalenvsteps": "timesteps",
    "actorsteps": "timesteps",
    "trainsteps": "timesteps",
    "samplesteps": "timesteps",
    "totalenvinteracts": "timesteps",
    "totalenvinteractions": "timesteps",
    "totalframes": "timesteps",
    "totalnumframes": "timesteps",
    "frames": "timesteps",
    "frame": "timesteps",
    "iteration": "iteration",
    "iter": "iteration",
    "itr": "iteration",
    "it": "iteration",
    "learningiteration": "iteration",
    "policyiteration": "iteration",
    "globaliteration": "iteration",
    "globaliter": "iteration",
    "cumulativetimesteps": "timesteps",
    **dict.fromkeys(("batchi", "batchidx", "batchindex", "batchnum", "batchnumber"), "iteration"),
    "cycle": "iteration",
    "aftercycle": "iteration",
    "trainingiteration": "iteration",
    "update": "iteration",
    "upd": "iteration",
    "numupdates": "iteration",
    "nupdates": "iteration",
    "updates": "iteration",
    "epoch": "epoch",
    "episode": "episode",
    "ep": "episode",
    "episodenum": "episode",
    "episodenumber": "episode",
    "episodeno": "episode",
    "finishedepisode": "episode",
    "trainepisode": "episode",
    "trainep": "episode",
    "evaluateepisode": "episode",
    "trainingepisode": "episode",
    "currentepisode": "episode",
    "globalepisode": "episode",
    "updateid": "iteration",
    "episodeid": "episode",
    **dict.fromkeys(
        ("iep", "iepisode", "epi", "episodei", "epnum", "epno", "epidx", "episodeidx"), "episode"
    ),
    "game": "episode",
    "gamenumber": "episode",
    "generation": "iteration",
    "runninggeneration": "iteration",
    "rollout": "iteration",
    "round": "iteration",
    "trainepoch": "epoch",
    "trainingepoch": "epoch",
    "currentstep": "step",
    **dict.fromkeys(("currenttimestep", "incurrenttimestep", "currenttimesteps"), "timesteps"),
    **dict.fromkeys(("currentiteration", "currentupdate"), "iteration"),
    **dict.fromkeys(("episodesdone", "episodescompleted", "episodessofar"), "episode"),
    **dict.fromkeys(("totaltimestepssofar", "totalstepssofar"), "timesteps"),
    "framenumber": "timesteps",
    "totalt": "timesteps",
    "tenv": "timesteps",
    **languages.STEP_WORDS,
}

_OF_MANY = word_set("avg mean average min max")
_TITLES = word_set("game round rollout")
"""Step words that also stand over texts of their own: `Game 3`."""
_BARE_COUNTS = word_set("step steps timestep timesteps frame frames")
_TRAINING_NUMBERS = word_set("run seed trial fold experiment pid")
_WORKERS = word_set("env worker actor agent thread process")
_EPISODE_COUNTS = word_set("episodes actorepisodes")
_NEVER_MEASURED = word_set(
    "gamma discountfactor gaelambda maxgradnorm nepochs updateepochs batchsize minibatchsize"
    " numminibatches numenvs nenvs buffersize memorysize replaybuffersize hiddensize hiddendim"
    " learningstarts trainfreq explorationfraction stepsperepoch maxeplen savefreq evalfreq"
    " nevalepisodes"
)

TOTAL_SETTINGS = {
    "timesteps": "total_timesteps",
    "step": "max_steps",
    "iteration": "total_iterations",
    "epoch": "total_epochs",
    "episode": "total_episodes",
}
"""The configuration's name for N of `k/N`, by what is counted."""

_SETTING_NAMES = word_set(
    """
    learningrate lr gamma gaelambda lam cliprange clipcoef clipeps epsilon nepochs updateepochs
    totaltrainingsteps
    batchsize minibatchsize nsteps numsteps numenvs nenvs seed entcoef vfcoef maxgradnorm targetkl
    beta klcoef numiterations totaltimesteps totaliterations maxsteps numminibatches hiddensize
    clipratio discountfactor numepisodes maxepisodes numberoftrainingepisodes
    actorlr criticlr totalsteps alpha loraalpha temperature
    rewardscale rewardclip valuelosscoeff explorationlosscoeff kllosscoeff lrscheduleklthreshold
    ppoclipratio ppoclipvalue policyinitgain initialstddev maxpolicylag numpolicies
    policyworkersperpolicy noiseeps randomeps
    maxtrainingtimesteps maxtimestepsperepisode ppoupdatefrequency ppokepochs kepochs
    ppoepsilonclip epsclip discountfactorgamma optimizerlearningrateactor
    optimizerlearningratecritic lractor lrcritic startingstdofactiondistribution
    decayrateofstdofactiondistribution minimumstdofactiondistribution
    decayfrequencyofstdofactiondistribution statespacedimension actionspacedimension
    modelsavingfrequency logfrequency
    ε ϵ α β γ
    """
)


@lru_cache(maxsize=4096)
def normalise(name: str) -> str:
    """A name's letters and digits, lower case."""
    return "".join(char for char in name.lower() if char.isalnum())


@lru_cache(maxsize=4096)
def split_words(name: str) -> tuple[str, ...]:
    """The words of a name, lower case, CamelCase taken apart."""
    return tuple(word.lower() for word in _WORD_PATTERN.findall(name))


def step_axis(name: str) -> str | None:
    """What a step word counts; None if the name is not a step word."""
    return _STEP_WORDS.get(normalise(name))


def numbers_steps(name: str) -> bool:
    """Whether a step is the number of an episode or epoch, which says what the steps count."""
    return step_axis(name.rpartition("/")[2]) in ("episode", "epoch")


def may_be_title(name: str) -> bool:
    """Whether a name with a number and nothing else may head a text that measures nothing."""
    return normalise(name) in _TITLES


def numbers_training(name: str) -> bool:
    """Whether a name is that of a training's number, or of its seed."""
    return normalise(name) in _TRAINING_NUMBERS


def names_worker(name: str) -> bool:
    """Whether a name is that of one of several that play side by side."""
    return normalise(name).removesuffix("id") in _WORKERS


def are_heading(names: Iterable[str]) -> bool:
    """Whether the numbers of a line with these names are only its step, and whose it is."""
    return all(step_axis(name) is not None or numbers_training(name) for name in names)


def is_bare_count(name: str) -> bool:
    """Whether a name leaves open whose steps it counts, as `total steps` does not."""
    return normalise(name.rpartition("/")[2]) in _BARE_COUNTS | languages.BARE_COUNTS


def counts_episodes(name: str) -> bool:
    """Whether a name may be that of an episode's number, or of how many there were."""
    name = name.rpartition("/")[2]
    return step_axis(name) == "episode" or normalise(name) in _EPISODE_COUNTS


def is_metric(name: str) -> bool:
    """Whether the name alone shows that its number is a metric."""
    parts = split_words(name)
    if not name.isascii() and languages.is_metric(name):
        return True
    if "r" in parts and not _OF_MANY.isdisjoint(parts):
        return True  # `R_avg`
    return not METRIC_WORDS.isdisjoint(parts) and _MACHINE_WORDS.isdisjoint(parts)


def is_exploration(name: str) -> bool:
    """Whether a column is the exploration rate: in a table of steps it is no setting."""
    return normalise(name) in ("epsilon", "eps")


def is_setting(name: str) -> bool:
    """Whether the name is a common one for a hyperparameter, or a private one: `_pi_lr`."""
    if name.startswith("_") or split_words(name)[-2:] == ("learning", "rate"):
        return True
    return normalise(name) in _SETTING_NAMES


def is_never_measured(name: str) -> bool:
    """Whether the name is that of a hyperparameter that no trainer logs beside its rewards."""
    return normalise(name) in _NEVER_MEASURED


def is_prose(name: str) -> bool:
    """Whether the name contains a word of prose; `it/s` is how many iterations there are."""
    is_rate = name[:3].lower() == "it/"
    return not is_rate and not _PROSE_WORDS.isdisjoint(split_words(name))


_ALGORITHM_WORDS = word_set(
    "a2c a3c acktr c51 ddpg ddqn dpo dqn grpo impala ppo reinforce rloo sac sarsa td3 trpo"
)
_LOSS_ENDS = (("loss",), ("losses",))
_REWARD_FILE = lazy_pattern(r"(rewards?|returns?|scores?)[_.-](.+)", re.IGNORECASE)
_FILE_OF_REWARDS = lazy_pattern(r"(.+)[_.-](rewards|returns|scores)", re.IGNORECASE)
_NUMBER_OF_RUN = lazy_pattern(r"(?i)(?:[_.-](?:(?:seed|run|trial)[_-]?)?|(?<=s))\d{1,5}$")
"""At the end of a file's name, which says whose rewards they are before that."""
_SERIES_WORDS = lazy_pattern(r"[_.-](?:history|hist|log|logs|list)$", re.IGNORECASE)
"""At the end of a file's name: `mean_score_history.txt`."""
_OTHER_REWARD_WORDS = METRIC_WORDS | word_set(
    "min max mean best var evaluation test val validation length lengths time penalty shaped"
    " intrinsic component components"
)
"""Words with which a file's rewards are not, or may not be, those of the training's episodes."""
_WORDS_BEFORE_REWARDS = _OTHER_REWARD_WORDS | word_set(
    "episode episodes step steps timestep timesteps train training total sum cumulative avg average"
    " ave running moving rolling smoothed discounted extrinsic true raw random baseline expert"
    " human optimal greedy agent agents all batch"
)
"""Words that say of what or over what rewards are, and have a meaning of their own or none."""


def reward_of_file(path: str) -> str:
    """A file's name without its end, if that is the name of a reward; else "".

    What else stands there is a remark, unless it makes it another one: `rewards (CartPole-v1)`,
    of `rewards_CartPole-v1.npy` and `CartPole-v1_rewards.npy` alike.
    """
    stem = PurePath(path).stem
    if (found := _REWARD_FILE.fullmatch(stem)) and _is_remark(found[2], _OTHER_REWARD_WORDS):
        return f"{found[1]} ({found[2]})"
    plain = _NUMBER_OF_RUN.sub("", stem)
    if (found := _FILE_OF_REWARDS.fullmatch(plain)) and _is_remark(found[1], _WORDS_BEFORE_REWARDS):
        return f"{found[2]} ({found[1]})"
    return _SERIES_WORDS.sub("", stem) if is_reward(stem) else ""


def series_of_file(path: str) -> str:
    """The tag of the only numbers in a file: its reward or loss, or its name if that says an
    algorithm.

    What `SpaceInvaders_PPO.npy` holds is probably a reward, but it does not say so.
    """
    name = curve_of_file(path)
    return name or (PurePath(path).stem if names_algorithm(path) else "")


def curve_of_file(path: str) -> str:
    """The tag of a file named after a reward or a loss: `policy_loss.npy`, `itr_0_losses.npy`."""
    stem = PurePath(path).stem
    is_loss = split_words(stem)[-1:] in _LOSS_ENDS
    return reward_of_file(path) or (stem if is_loss else "")


def names_algorithm(path: str) -> bool:
    """Whether a file's name says an algorithm, such as `SpaceInvaders_PPO.npy`."""
    stem = PurePath(path).stem
    words = {*split_words(stem), *re.split(r"[\W_]+", stem.lower())}  # `a2c` is one, too
    return not _ALGORITHM_WORDS.isdisjoint(words)


def _is_remark(text: str, others: frozenset[str]) -> bool:
    words = split_words(text)
    return bool(words) and others.isdisjoint(words)


def is_reward(name: str) -> bool:
    """Whether the number is a reward, a return or a score."""
    return not _REWARD_WORDS.isdisjoint(split_words(name)) or languages.is_reward(name)
