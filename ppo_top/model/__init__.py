"""The types that all layers share: bytes -> `Batch` -> `Series` -> `Row` -> `Finding` -> `Verdict`.

Names imported from here stay valid whichever module of this package defines them.
"""

from ppo_top.model.console_lines import UNKNOWN_TIME as UNKNOWN_TIME
from ppo_top.model.console_lines import ConsoleLine as ConsoleLine
from ppo_top.model.console_lines import ConsoleLines as ConsoleLines
from ppo_top.model.findings import NO_STEP as NO_STEP
from ppo_top.model.findings import Finding as Finding
from ppo_top.model.findings import FindingVersion as FindingVersion
from ppo_top.model.findings import Mark as Mark
from ppo_top.model.findings import Profile as Profile
from ppo_top.model.findings import Row as Row
from ppo_top.model.findings import SeverityChange as SeverityChange
from ppo_top.model.findings import open_at as open_at
from ppo_top.model.histogram import Histogram as Histogram
from ppo_top.model.points import UNKNOWN_SAMPLE as UNKNOWN_SAMPLE
from ppo_top.model.points import Batch as Batch
from ppo_top.model.points import ConfigValue as ConfigValue
from ppo_top.model.points import Points as Points
from ppo_top.model.points import Problem as Problem
from ppo_top.model.points import RunEnd as RunEnd
from ppo_top.model.points import Sample as Sample
from ppo_top.model.points import Series as Series
from ppo_top.model.points import as_number as as_number
from ppo_top.model.source_facts import HEAD_ROWS as HEAD_ROWS
from ppo_top.model.source_facts import Head as Head
from ppo_top.model.source_facts import SourceFacts as SourceFacts
from ppo_top.model.verdicts import Axis as Axis
from ppo_top.model.verdicts import RowKind as RowKind
from ppo_top.model.verdicts import RunRank as RunRank
from ppo_top.model.verdicts import Severity as Severity
from ppo_top.model.verdicts import State as State
from ppo_top.model.verdicts import Status as Status
from ppo_top.model.verdicts import Verdict as Verdict
from ppo_top.model.verdicts import count_verdicts as count_verdicts
from ppo_top.model.verdicts import verdict_counts_text as verdict_counts_text
from ppo_top.model.verdicts import worst_first as worst_first
