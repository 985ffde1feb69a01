"""Files that gpustrata reads: their snapshots, tables and answers."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Mapping, Sequence

from gpustrata import _native
from gpustrata._native import Handle, checked, library
from gpustrata._progress import Progress
from gpustrata._table import Table

__all__ = ["File", "Snapshot", "fit", "open"]

_KINDS = {"events": 0, "blocks": 1, "segments": 2, "lives": 3, "stacks": 4}
_OP_MODES = {"thread": 0, "span": 1}
_ALL_DEVICES = -(1 << 31)
_HOST = -1
_PIECE = 16 << 20  # bytes read between two looks at signals


def _ordinal(device: Any) -> int | None:
    """None, 1, "1", "cuda:1", "host", or a torch.device."""
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        if not _HOST <= device < 1 << 31:
            raise ValueError(f"There is no device {device}: they are counted from 0, and {_HOST} is pinned host memory")
        return device
    text = str(device)
    kind, colon, number = text.partition(":")
    if text in ("host", "cpu"):
        return _HOST
    if kind == "cuda" and not colon:
        return 0
    digits = number if colon else text
    if (not colon or kind == "cuda") and digits.isascii() and digits.isdigit():
        return _ordinal(int(digits))
    raise ValueError(f'a device is None, a number, "cuda:1", "host" or a torch.device, but it is {device!r}')


def _device_option(device: Any) -> list[str]:
    ordinal = _ordinal(device)
    if ordinal is None:
        return []
    return [f"--device={'host' if ordinal == _HOST else ordinal}"]


def _op_device(device: Any) -> str:
    """As the table of ops names it; a number stands for itself, "" for all."""
    if device is None:
        return ""
    if isinstance(device, int) and not isinstance(device, bool):
        if device < 0:
            raise ValueError(f"There is no device {device}: they are counted from 0")
        return str(device)
    text = str(device)
    if not text or "\0" in text:
        raise ValueError(f'a device is None, a number, "cpu", "cuda:1" or a torch.device, but it is {device!r}')
    return {"host": "cpu", "cuda": "cuda:0"}.get(text, text)


def _rows_option(rows: int | None) -> list[str]:
    return [] if rows is None else [f"-n{rows}"]


class Snapshot:
    """One snapshot of a file: its tables and answers. `device` is None for all (tables) or the telling one
    (answers), a number, "cuda:1", "host" for pinned memory, or a torch.device.
    """

    def __init__(self, file: File, index: int) -> None:
        self._of, self._index = file, index

    @property
    def name(self) -> str:
        """Its key in the file; "" if the file is the snapshot."""
        return str(self._told()["name"])

    @property
    def devices(self) -> list[int]:
        """Ordinals with segments or events, ascending."""
        return [one["device"] for one in self._told()["devices"] if one["device"] != _HOST]

    # -- Tables.
    def events(self, device: Any = None) -> Table:
        """What the allocator did, in order."""
        return self._table("events", device)

    def blocks(self, device: Any = None) -> Table:
        """Blocks of the final state; `segment` is a row of segments() of the same device(s)."""
        return self._table("blocks", device)

    def segments(self, device: Any = None) -> Table:
        """Segments of the final state."""
        return self._table("segments", device)

    def lives(self, device: Any = None) -> Table:
        """Every block that ever lived: from which event to which; null = from the start, to the end."""
        return self._table("lives", device)

    def stacks(self) -> Table:
        """The stacks that the other tables name by row; of the whole file."""
        return self._table("stacks", None)

    def ops(self, device: Any = None, *, mode: str = "thread") -> Table:
        """What every op of a profiler's trace did with memory, device by device, as `gpustrata ops --json`; of a
        File, of all its traces.

        device: as in the column `device` ("cpu", "cuda:0"), a torch.device, or the number of one that is not the
        host. mode: "thread": an op holds what its own thread does with memory; "span": what its process does meanwhile.
        """
        return self._ops(self._index, device, mode)

    def write_parquet(self, path: str | os.PathLike[str], *, table: str = "events", device: Any = None,
                      run: str | None = None, rank: int | None = None) -> str:
        """Writes a table as a Parquet file, by pyarrow (the extra `arrow`); where it lies.

        path: of the file, or of a folder, in which it is run=RUN/rank=RANK/TABLE.parquet, less what is not given.
        table: "events", "blocks", "segments", "lives", "stacks", "ops".
        """
        from gpustrata import _parquet

        if table not in (*_KINDS, "ops"):
            raise ValueError(f"table is one of {', '.join(_KINDS)}, ops, but it is {table!r}")
        written = os.fspath(path)
        if run is not None or rank is not None or os.path.isdir(written):
            written = _parquet.path_in(written, run, rank, table + ".parquet")
        if os.path.exists(written) and os.path.exists(self._of.path) and os.path.samefile(written, self._of.path):
            raise ValueError(f"{written} is the file that is read. Write to another one.")
        made = self.ops(device) if table == "ops" else self._table(table, None if table == "stacks" else device)
        _parquet.write(made, written)
        return written

    # -- Answers, as the command's --json.
    def summary(self) -> dict[str, Any]:
        """The numbers of the file: peak, sizes, events, what was lost."""
        return self._only("snapshots", self._ask("summary"))

    def top(self, at: str | int = "peak", *, by: str = "stack", rows: int | None = None,
            device: Any = None) -> dict[str, Any]:
        """What is alive at a moment and who asked for it, the largest first.

        at: "peak", "end", "start" or an event; by: "stack", "line", "function", "file".
        """
        return self._only("tops", self._ask("top", f"--at={at}", f"--by={by}", *_rows_option(rows),
                                            *_device_option(device)))

    def report(self, *, device: Any = None, rules: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Why it ran out, what the peak is made of, what leaks, what fragments."""
        more = [] if rules is None else [f"--rules={os.fspath(rules)}"]
        return self._only("devices", self._ask("report", *more, *_device_option(device)))

    def state(self, event: str | int | Sequence[str | int] = "peak", *, device: Any = None) -> Any:
        """Segments and blocks after an event (-1 = before the first), or "peak", "end", "start"; of several, a list."""
        several = isinstance(event, (list, tuple))
        moments = ",".join(str(one) for one in event) if several else str(event)
        told = self._ask("state", f"--at={moments}", *self._choice(), *_device_option(device))
        return told if isinstance(told, list) or not several else [told]

    def whatif(self, *, conf: str | None = None, capacity: int | None = None, without: Sequence[str] = (),
               scale: Sequence[str] = (), smallest: bool = False, search: bool = False,
               device: Any = None) -> dict[str, Any]:
        """The recorded requests again: other settings, another capacity, without some blocks."""
        more = [] if conf is None else ["--conf=" + conf]
        more += [] if capacity is None else [f"--capacity={capacity}"]
        for one in [without] if isinstance(without, str) else without:
            more.append("--without=" + one)
        for one in [scale] if isinstance(scale, str) else scale:
            more.append("--scale=" + one)
        more += ["--smallest"] if smallest else []
        more += ["--search"] if search else []
        return self._ask("whatif", *more, *self._choice(), *_device_option(device))

    def compare(self, after: File | Snapshot | str | os.PathLike[str], at: str | int | None = None, *, by: str = "stack",
                rows: int | None = None, device: Any = None) -> dict[str, Any]:
        """What grew from this to `after`, the most first. `at` is None for the command's own choice."""
        if isinstance(after, (str, os.PathLike)):
            with open(after) as opened:
                return self.compare(opened, at, by=by, rows=rows, device=device)
        other = after if isinstance(after, Snapshot) else after.snapshots[0]
        return _native.ask([self._of._handle, other._of._handle],
                           ["compare", self._of._path, other._of._path, "--json", f"--by={by}",
                            *([] if at is None else [f"--at={at}"]), *_rows_option(rows), *self._choice(),
                            *other._choice("--snapshot-after"), *_device_option(device)])

    def __repr__(self) -> str:
        return f"<gpustrata.Snapshot {self.name or self._index} of {self._of.path!r}: devices {self.devices}>"

    def _told(self) -> dict[str, Any]:
        return self._of._contents["snapshots"][self._index]

    def _choice(self, option: str = "--snapshot") -> list[str]:
        names = [one["name"] for one in self._of._contents["snapshots"]]
        name = names[self._index]
        if len(names) == 1:
            return []
        return [option + "=" + (name if name and names.index(name) == self._index else str(self._index))]

    def _ask(self, command: str, *arguments: str) -> Any:
        return _native.ask([self._of._handle], [command, self._of._path, "--json", *arguments])

    def _only(self, key: str, told: dict[str, Any]) -> dict[str, Any]:
        """An answer about all snapshots less the others."""
        if len(self._of._contents["snapshots"]) > 1:
            name = "name" if key == "snapshots" else "snapshot"
            told[key] = [one for one in told[key] if one.get(name) == self.name]
        return told

    def _table(self, kind: str, device: Any) -> Table:
        ordinal = _ordinal(device)
        number = _ALL_DEVICES if ordinal is None else ordinal
        what = kind if ordinal is None else f"{kind} of device {'host' if ordinal == _HOST else ordinal}"
        return self._made(what, "gpustrata_file_table", _KINDS[kind], self._index, number)

    def _ops(self, index: int, device: Any, mode: str) -> Table:
        if mode not in _OP_MODES:
            raise ValueError(f"mode is one of {', '.join(_OP_MODES)}, but it is {mode!r}")
        name = _op_device(device)
        return self._made(f"ops of {name}" if name else "ops", "gpustrata_file_ops", index,
                          name.encode("utf-8", "surrogateescape"), _OP_MODES[mode])

    def _made(self, what: str, function: str, *arguments: Any) -> Table:
        path, handle = self._of.path, self._of._handle
        table, _ = _native.in_background(lambda: checked(path, function, handle.address, *arguments))
        return Table(Handle(table, library().gpustrata_table_close), what)


class File(Snapshot):
    """An open file. Its tables, state(), whatif() and compare() are those of its first snapshot; summary(), top(),
    report() and ops() tell about all of them. close() it, or use it as `with`; tables stay valid.
    """

    def __init__(self, handle: Handle, path: str, contents: dict[str, Any]) -> None:
        super().__init__(self, 0)
        self._open: Handle | None = handle
        self.path = path
        self._contents = contents

    @property
    def _path(self) -> str:
        # "-" would be standard input.
        return "./" + self.path if self.path.startswith("-") else self.path

    @property
    def _handle(self) -> Handle:
        if self._open is None:
            raise ValueError(f"{self.path} is closed")
        return self._open

    @property
    def format(self) -> str:
        """What the snapshots were found in: "pickle", "json in gzip", ..."""
        return str(self._contents["format"])

    @property
    def snapshots(self) -> list[Snapshot]:
        return [Snapshot(self, i) for i in range(len(self._contents["snapshots"]))]

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What was damaged, left out or repaired."""
        return list(self._contents["diagnostics"])

    def show(self, *, height: int = 720, viewer: str | os.PathLike[str] | None = None) -> Any:
        """The viewer with this file, in a notebook; needs no network."""
        from gpustrata import _notebook

        return _notebook.show(self.path, height, viewer)

    def save_html(self, path: str | os.PathLike[str], *, viewer: str | os.PathLike[str] | None = None) -> None:
        """One page with the viewer and this file, which opens offline."""
        from gpustrata import _notebook

        _notebook.write_page(self._path, path, viewer)

    def close(self) -> None:
        """Gives its memory back, once the tables taken from it are gone, too."""
        self._open = None

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        parts = len(self._contents["snapshots"])
        return (f"<gpustrata.File {self.path!r}: {self.format}, "
                f"{f'devices {self.devices}' if parts == 1 else f'{parts} snapshots'}"
                f"{'' if self._open else ', closed'}>")

    def ops(self, device: Any = None, *, mode: str = "thread") -> Table:
        return self._ops(-1, device, mode)

    ops.__doc__ = Snapshot.ops.__doc__

    def _told(self) -> dict[str, Any]:
        snapshots = self._contents["snapshots"]
        return snapshots[0] if snapshots else {"name": "", "devices": []}

    def _only(self, key: str, told: dict[str, Any]) -> dict[str, Any]:
        return told


def open(path: str | os.PathLike[str], *, progress: bool | None = None, memory_limit: int = 0) -> File:
    """Reads a file: pickle, JSON, packed, in a web page, a profiler's trace; decided from its bytes.

    progress: True and False show or hide it; None shows it where standard error is a terminal.
    memory_limit: bytes that its tables may take; 0 = three quarters of the memory that this process may have.
    """
    name = os.fspath(path)
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if not isinstance(name, str):
        raise TypeError(f"a path is text, but it is {path!r}")
    os.stat(name)  # FileNotFoundError and its like, as Python has them
    real = "./" + name if name.startswith("-") else name
    if memory_limit < 0:
        raise ValueError(f"memory_limit is not negative, but it is {memory_limit}")
    address, _ = checked(name, "gpustrata_file_open", os.fsencode(real), _native._whole(memory_limit))
    handle = Handle(address, library().gpustrata_file_close)
    bar = Progress(os.path.basename(name), progress)
    numbers = (ctypes.c_int64 * 3)()
    try:
        while checked(name, "gpustrata_file_read", address, _PIECE)[0]:
            library().gpustrata_file_progress(address, numbers)
            bar.show(numbers[0], numbers[1])
    finally:
        bar.close()
    _, contents = checked(name, "gpustrata_file_contents", address)
    return File(handle, name, json.loads(contents))


def fit(recordings: Mapping[File | str | os.PathLike[str], Mapping[str, int]], at: Sequence[Mapping[str, int]] = (), *,
        capacity: int | None = None, conf: str | None = None, device: Any = None, scale: bool = False) -> dict[str, Any]:
    """What fits: memory at other sizes, foretold from recordings of one program.

        gpustrata.fit({"b4.pickle": {"batch": 4}, "b8.pickle": {"batch": 8}}, at=[{"batch": 16}], capacity=80 << 30)

    Files that are open are not read again. `at` may also be one mapping. `scale`: a guess from one recording, by what its blocks are for.
    """
    def text_of(values: Mapping[str, int]) -> str:
        return ",".join(f"{name}={int(value)}" for name, value in values.items())

    opened = [one if isinstance(one, File) else open(one) for one in recordings]
    try:
        more = ["--at=" + text_of(one) for one in ([at] if isinstance(at, Mapping) else at)]
        more += [] if capacity is None else [f"--capacity={capacity}"]
        more += [] if conf is None else ["--conf=" + conf]
        if scale:
            more += ["--scale=" + ",".join(map(text_of, recordings.values()))]
        files = [str(file._path) if scale else f"{file._path}:{text_of(values)}" for file, values in zip(opened, recordings.values())]
        return _native.ask([file._handle for file in opened], ["fit", *files, "--json", *more, *_device_option(device)])
    finally:
        for given, file in zip(recordings, opened):
            if file is not given:
                file.close()
