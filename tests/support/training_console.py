"""Prints a training as `transformers`' ProgressCallback and tqdm do, with stdout held back.

Follows `ProgressCallback.on_log` of transformers 4.57 (`training_bar.write(str(logs))`) and
`tqdm.write`, `tqdm.clear` of tqdm 4.67: the bar on stderr is wiped with blanks, the text goes to
stdout, the bar is drawn again. Stderr is never buffered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class TrainingConsole:
    """A file that gets both streams; `block` is stdout's buffer in bytes, 0 for none.

    With `whole_writes` the buffer is written up to the end of a write, as Python does; otherwise
    blocks end anywhere.
    """

    total: int
    block: int = 0
    whole_writes: bool = True
    wipes: bool = True
    content: bytearray = field(default_factory=bytearray)
    _held: bytearray = field(default_factory=bytearray)
    _width: int = 0
    _done: int = 0

    def draw(self, done: int) -> None:
        """Draw the bar on stderr."""
        self._done = done
        share = done / self.total
        text = (
            f"{share:4.0%}|{'#' * int(10 * share):<10}| {done}/{self.total} [00:02<00:08, 2.1it/s]"
        )
        self.content += b"\r" + text.ljust(self._width).encode()
        self._width = len(text)

    def print(self, text: str) -> None:
        """Print a line to stdout."""
        for part in (text, "\n"):
            self._write(part.encode())

    def write(self, text: str) -> None:
        """Print a line above the bar."""
        if self.wipes:
            self.content += b"\r" + b" " * self._width + b"\r"
            self._width = 0
        self.print(text)
        self.draw(self._done)

    def evaluate(self, text: str, batches: int = 4) -> None:
        """Draw the bar of an evaluation below that of the training, and print what it found.

        `ProgressCallback.on_prediction_step` opens it with `leave=False`: it is wiped when closed.
        """
        blanks = b" " * self._width
        for done in range(batches + 1):
            bar = f"{done / batches:4.0%}|###| {done}/{batches} [00:01<00:01, 2.1it/s]".encode()
            self.content += b"\n\r" + bar + b"\x1b[A"
        self.content += b"\r" + blanks + b"\r\n\r" + blanks + b"\r\x1b[A"
        self._width = 0
        self.print(text)
        self.draw(self._done)
        self.content += b"\n\r" + bar + b"\x1b[A\n\r" + blanks + b"\r\x1b[A"

    def _write(self, data: bytes) -> None:
        if self.whole_writes and len(self._held) + len(data) > self.block:
            self._flush(len(self._held))
        self._held += data
        while len(self._held) >= self.block and self._held:
            self._flush(self.block or len(self._held))

    def _flush(self, size: int) -> None:
        self.content += self._held[:size]
        del self._held[:size]

    def close(self) -> bytes:
        """The bar is left on its line and stdout is flushed; what the file holds."""
        self.draw(self._done)
        self.content += b"\n"
        self._flush(len(self._held))
        return bytes(self.content)


def print_training(
    console: TrainingConsole, records: Sequence[tuple[int, str]], redraw_every: int = 1
) -> bytes:
    """Print records at their steps, the bar drawn every few steps between them."""
    at: dict[int, list[str]] = {}
    for step, text in records:
        at.setdefault(step, []).append(text)
    console.draw(0)
    for step in range(1, console.total + 1):
        console._done = step
        if step % redraw_every == 0:
            console.draw(step)
        for text in at.get(step, ()):
            console.write(text)
    return console.close()
