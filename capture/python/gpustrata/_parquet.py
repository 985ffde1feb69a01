"""Tables as Parquet files, by pyarrow (the extra `arrow`)."""
from __future__ import annotations

import os
import tempfile
from typing import Any
from urllib.parse import quote

__all__ = ["path_in", "write"]

_ROWS = 1 << 20  # of a row group


def path_in(folder: str, run: str | None, rank: int | None, name: str) -> str:
    """FOLDER/run=RUN/rank=RANK/NAME, as `gpustrata convert --run --rank` has it; the folders below FOLDER are made."""
    if rank is not None and (not isinstance(rank, int) or isinstance(rank, bool) or rank < 0):
        raise ValueError(f"a rank is a number from 0 on, but it is {rank!r}")
    if run == "":
        raise ValueError("a run has a name")
    if (run is not None or rank is not None) and not os.path.isdir(folder):
        raise ValueError(f"run and rank name folders below {folder}, which has to be a folder that is there")
    # Plain are the letters and digits of ASCII, and these.
    parts = [] if run is None else ["run=" + quote(run, safe="").replace("~", "%7E")]
    parts += [] if rank is None else [f"rank={rank}"]
    path = os.path.join(folder, *parts)
    os.makedirs(path, exist_ok=True)
    return os.path.join(path, name)


def write(table: Any, path: str) -> None:
    """`path` is there whole, or as it was before."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet is written by pyarrow, which is not here: pip install 'gpustrata[arrow]'") from None
    arrow = pyarrow.table(table)
    folder, name = os.path.split(path)
    number, beside = tempfile.mkstemp(prefix=f".{name[:200]}.part-", dir=folder or ".")
    try:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(number, 0o666 & ~mask)
        with os.fdopen(number, "wb") as file:
            with pyarrow.parquet.ParquetWriter(file, arrow.schema, compression="zstd") as writer:
                for batch in arrow.to_batches(max_chunksize=_ROWS):
                    writer.write_batch(batch)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
