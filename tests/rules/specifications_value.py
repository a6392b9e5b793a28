"""x"""

from tests.rules.specifications import Pair

PAIRS: tuple[Pair, ...] = ()
