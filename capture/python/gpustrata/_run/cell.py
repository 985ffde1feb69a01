"""`%%gpustrata` in a notebook: the cell runs recorded, and the viewer stands below it."""
from __future__ import annotations

import ast
import dataclasses
import shlex
from typing import Any

from gpustrata._run import options, told
from gpustrata._run.record import record

__all__ = ["load"]


def load(shell: Any) -> None:
    """For `%load_ext gpustrata`."""
    shell.register_magic_function(lambda line, text=None: _cell(shell, line, text), "line_cell", "gpustrata")


def _cell(shell: Any, line: str, text: str | None) -> Any:
    """The value of the cell's last expression, as without the magic. Wrong options: one line, and nothing runs."""
    try:
        words = shlex.split(line)
        shown = "--no-view" not in words
        words = [word for word in words if word != "--no-view"]
        if text is None or "-h" in words or "--help" in words:
            print(_help(), end="")
            return None
        chosen = options.of_words(words)
        if chosen.dump_on_signal:
            raise options.WrongUsage("--dump-on-signal is of gpustrata run: a cell ends by itself")
        if chosen.driver:
            raise options.WrongUsage("the driver is recorded from the beginning of a process: gpustrata run --driver")
    except ValueError as error:  # WrongUsage is one
        told.say(f"{error} (%gpustrata --help)")
        return None
    if chosen.output == options.DEFAULT_OUTPUT:
        chosen = dataclasses.replace(chosen, output=f"gpustrata-cell{_number(shell)}.pickle")
    recording = record.of_options(chosen)
    try:
        with recording:
            return _run(shell, text)
    finally:
        if shown and recording.path is not None:
            _show(recording.path)


def _help() -> str:
    it = options.parser("name of the file; {host}, {rank}, {device} and {pid} are filled in. One that is there is replaced "
                        "(default: gpustrata-cellN.pickle, N is the cell's number)")
    it.usage = "%%%%gpustrata [OPTIONS]"  # argparse replaces %
    it.description = "Runs the cell and records what PyTorch's own allocator does meanwhile; the viewer with the file stands below."
    it.add_argument("--no-view", action="store_true", help="the file alone")
    return it.format_help()


def _number(shell: Any) -> int:
    """In the brackets before the cell; IPython 9 counts on before a cell runs, 8 behind it."""
    return len(shell.history_manager.input_hist_parsed) - 1


def _run(shell: Any, text: str) -> Any:
    """As IPython does: frames name the cell, and its last expression is its value."""
    source = shell.transform_cell(text)
    name = shell.compile.cache(source, _number(shell), raw_code=text)
    tree = shell.transform_ast(ast.parse(source, name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(shell.compile(tree, name, "exec"), shell.user_ns)
    if last is None:
        return None
    return eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_ns)


def _show(path: str) -> None:
    from IPython.display import display

    from gpustrata import _file

    try:
        display(_file.open(path).show())
    except Exception as error:  # the cell has run, and the file is there
        told.say(f"no viewer for {path}: {' '.join(str(error).split())[:300]}")
