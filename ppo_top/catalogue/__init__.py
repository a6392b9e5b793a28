"""Which tag of which trainer means which metric: tables of data and their readers."""

from ppo_top.catalogue.concepts import (
    METRIC_GROUPS,
    OTHER_GROUP,
    TAG_PREFIX,
    Concept,
    concept,
    concepts,
    is_concept,
)
from ppo_top.catalogue.lookup import (
    LoggedTag,
    OptionSpelling,
    all_tags,
    concept_stem,
    logged_as,
    meanings_of,
    option_called,
    option_spellings,
)
from ppo_top.catalogue.options import (
    Option,
    canonical_names,
    hyperparameter,
    option,
    option_default,
    option_name,
    options,
    total_steps,
)
from ppo_top.catalogue.table import TagEntry, TagTable, trainer_tables
from ppo_top.catalogue.tags import IGNORE, Meaning, alias_meaning, meaning
from ppo_top.catalogue.trainers import UNKNOWN_TRAINER, Trainer, identify, known_trainers

__all__ = [
    "IGNORE",
    "METRIC_GROUPS",
    "OTHER_GROUP",
    "TAG_PREFIX",
    "UNKNOWN_TRAINER",
    "Concept",
    "LoggedTag",
    "Meaning",
    "Option",
    "OptionSpelling",
    "TagEntry",
    "TagTable",
    "Trainer",
    "alias_meaning",
    "all_tags",
    "canonical_names",
    "concept",
    "concept_stem",
    "concepts",
    "hyperparameter",
    "identify",
    "is_concept",
    "known_trainers",
    "logged_as",
    "meaning",
    "meanings_of",
    "option",
    "option_called",
    "option_default",
    "option_name",
    "option_spellings",
    "options",
    "total_steps",
    "trainer_tables",
]
