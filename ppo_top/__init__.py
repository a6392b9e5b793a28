"""ppo-top: a live verdict on reinforcement learning runs, in the terminal.

For scripts and notebooks: `check(paths)` judges runs, `points(paths)` gives their points.
"""

__version__ = "0.1.0"
__all__ = ["CouldNotLook", "Point", "check", "points"]

TYPE_CHECKING = False  # as in `typing`, whose import would take longer than all of this
if TYPE_CHECKING:
    from ppo_top.library import CouldNotLook, Point, check, points
else:

    def __getattr__(name: str) -> object:
        """Load the functions when one is used first."""
        if name in __all__:
            from ppo_top import library

            return getattr(library, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*globals(), *__all__]
