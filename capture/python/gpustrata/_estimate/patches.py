"""Attributes of other modules that have another value for a while."""
from __future__ import annotations

from typing import Any

__all__ = ["Patches"]

_ABSENT = object()


class Patches:
    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """`owner` is a module or a class; inherited attributes are hidden, not changed."""
        self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def set_if_there(self, owner: Any, name: str, value: Any) -> None:
        if hasattr(owner, name):
            self.set(owner, name, value)

    def undo(self) -> None:
        while self._before:
            owner, name, before = self._before.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
