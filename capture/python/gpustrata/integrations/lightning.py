"""A callback for the Trainer of Lightning.

    from gpustrata.integrations import lightning

    Trainer(callbacks=[lightning.Callback(steps=(3, 6))]).fit(model, data)
"""
from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch.callbacks import Callback as _Callback
except ImportError:  # its older name
    from pytorch_lightning.callbacks import Callback as _Callback  # type: ignore[no-redef, import-not-found]

from gpustrata import record

__all__ = ["Callback"]


class Callback(_Callback):  # type: ignore[misc]
    """Records from the beginning of fit() to its end, with the arguments of gpustrata.record. `path` afterwards: the file.

    Steps are the optimizer's, counted from 0 in each fit().
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        record(*arguments, **named)  # wrong ones are told here
        self._arguments, self._named = arguments, named
        self._record: record | None = None
        self.path: str | None = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit" and self._record is None:
            self._record = record(*self._arguments, **self._named).__enter__()

    def _end(self, error: BaseException | None) -> None:
        if self._record is not None:
            self._record.__exit__(type(error) if error else None, error, None)
            self.path, self._record = self._record.path, None

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self._end(None)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end(exception)
