"""How long a key waits for the screen."""

from __future__ import annotations

import asyncio
import time

from ppo_top.tui.app.app import PpoTop


async def key_delay(app: PpoTop) -> float:
    """Seconds until the app would handle a key pressed now."""
    done = asyncio.Event()
    due = time.monotonic() + 0.02
    await asyncio.sleep(0.02)  # it comes while the app does something else
    app.call_later(done.set)
    await done.wait()
    return time.monotonic() - due
