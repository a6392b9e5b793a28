"""Which tag of which trainer means which concept: tables of data and what reads them."""

from ppo_top.catalogue.concepts import (
    GROUPS,
    OTHER,
    TAG,
    Concept,
    concept,
    concepts,
    is_concept,
)
from ppo_top.catalogue.lookup import (
    Logged,
    Spelling,
    logged_as,
    meanings_of,
    option_called,
    spellings,
    stem,
    tags,
)
from ppo_top.catalogue.options import (
    Option,
    canonical_names,
    default,
    hyperparameter,
    option,
    option_name,
    options,
    total,
)
from ppo_top.catalogue.producers import UNKNOWN, Producer, identify, producers
from ppo_top.catalogue.table import Entry, Table, trainers
from ppo_top.catalogue.tags import IGNORE, Meaning, meaning, own_meaning

__all__ = [
    "GROUPS",
    "IGNORE",
    "OTHER",
    "TAG",
    "UNKNOWN",
    "Concept",
    "Entry",
    "Logged",
    "Meaning",
    "Option",
    "Producer",
    "Spelling",
    "Table",
    "canonical_names",
    "concept",
    "concepts",
    "default",
    "hyperparameter",
    "identify",
    "is_concept",
    "logged_as",
    "meaning",
    "meanings_of",
    "option",
    "option_called",
    "option_name",
    "options",
    "own_meaning",
    "producers",
    "spellings",
    "stem",
    "tags",
    "total",
    "trainers",
]
