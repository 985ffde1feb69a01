"""A callback for the Trainer of Hugging Face's transformers.

    from gpustrata.integrations import hf

    Trainer(model, args, train_dataset=data, callbacks=[hf.Callback(steps=(3, 6))]).train()
"""
from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from gpustrata import record

__all__ = ["Callback"]


class Callback(TrainerCallback):  # type: ignore[misc]
    """Records from the beginning of train() to its end, with the arguments of gpustrata.record. `path` afterwards: the file.

    Steps are the optimizer's, counted from 0 in each train(). The Trainer does not tell its callbacks of an exception: what ends
    train() by one is recorded until the program ends or trains again; out of memory has its file at once.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        record(*arguments, **named)  # wrong ones are told here
        self._arguments, self._named = arguments, named
        self._record: record | None = None
        self.path: str | None = None

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.on_train_end()
        self._record = record(*self._arguments, **self._named).__enter__()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        if self._record is not None:
            self._record.__exit__(None, None, None)
            self.path, self._record = self._record.path, None
