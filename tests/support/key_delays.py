"""How long the screen makes a key wait."""

from __future__ import annotations

import asyncio
import time

from ppo_top.tui.app.app import PpoTop


async def key_delay(app: PpoTop) -> float:
    """How long a key that comes now waits: seconds until what is asked of the app has its turn."""
    done = asyncio.Event()
    due = time.monotonic() + 0.02
    await asyncio.sleep(0.02)  # it comes while the app does something else
    app.call_later(done.set)
    await done.wait()
    return time.monotonic() - due
