"""SwanLab: its record files, and the older store of a database."""

from ppo_top.parsers.swanlab.parser import FORMAT
from ppo_top.parsers.swanlab.sqlite_store import FORMATS as SQLITE_FORMATS

FORMATS = (FORMAT, *SQLITE_FORMATS)
