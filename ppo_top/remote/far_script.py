"""The program that runs where the logs are: the modules of `far_side` as one text."""

from __future__ import annotations

from importlib.resources import files

FAR_SIDE = "ppo_top.remote.far_side"
MODULES = ("frames", "file_state", "log_lister", "main")
"""Those of `far_side`, each behind those that it imports."""
LOADER = """\
import sys, types
for name, text in {texts!r}:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""
"""Makes them importable by the names that they have here, though no package is there."""


def far_script() -> bytes:
    """The text that the Python there is given to execute."""
    return LOADER.format(texts=far_texts()).encode()


def far_texts() -> list[tuple[str, str]]:
    """(name, text) of each module, in the order in which they are loaded."""
    folder = files(FAR_SIDE)
    return [
        (f"{FAR_SIDE}.{name}", folder.joinpath(f"{name}.py").read_text("utf-8")) for name in MODULES
    ]
