"""Put first on PYTHONPATH, this takes away what Linux has and macOS has not.

Gone are `os.pipe2`, `os.eventfd`, `/proc` and inotify; each answers as on a system without it.
"""

import os
import sys

for name in [name for name in vars(os) if name == "pipe2" or name.startswith(("eventfd", "EFD_"))]:
    delattr(os, name)

sys.modules["watchdog.observers.inotify"] = None  # type: ignore[assignment] # importing it fails


def _without_proc(name: str) -> None:
    original = getattr(os, name)

    def guarded(path: object = ".", *args: object, **options: object) -> object:
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith("/proc"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return original(path, *args, **options)

    setattr(os, name, guarded)


for name in ("readlink", "listdir", "stat", "lstat", "scandir", "open"):
    _without_proc(name)


def _no_proc_is_opened(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and str(arguments[0]).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


sys.addaudithook(_no_proc_is_opened)
