"""Arrays as `numpy.save` writes them: only those of plain numbers, never a pickle."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"\x93NUMPY"
"""The first bytes of a file."""


def read_array(data: bytes) -> NDArray[np.float64]:
    """One array of plain numbers; raises `ValueError` if its header claims more than there is."""
    import tokenize

    import numpy as np

    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else None
    try:
        shape, _, dtype = (header or np.lib.format.read_array_header_2_0)(stream)
    except (SyntaxError, TypeError, ValueError, tokenize.TokenError) as error:
        raise ValueError("damaged header") from error
    if dtype.hasobject:
        what = "array does not hold numbers but a Python pickle"
        raise ValueError(f"{what}: not read, since loading one may run code")
    if dtype.kind not in "bifu":
        raise ValueError("array does not hold numbers")
    if math.prod(shape) * dtype.itemsize > len(data):
        raise ValueError("array larger than its file")
    stream.seek(0)
    try:
        found: NDArray[np.float64] = np.lib.format.read_array(stream, allow_pickle=False)
    except (ArithmeticError, LookupError, MemoryError, TypeError) as error:
        raise ValueError("damaged header") from error
    return found
