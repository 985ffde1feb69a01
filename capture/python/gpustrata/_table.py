"""A table of a file: Arrow for libraries, lists for everybody."""
from __future__ import annotations

from typing import Any

from gpustrata import _arrow
from gpustrata._native import Handle, library

__all__ = ["Table"]


class Table:
    """Columns of a file, taken by pandas, polars, pyarrow and duckdb as they are (Arrow PyCapsule interface).

    It stays valid after its file was closed. Nothing is copied where the engine's columns fit Arrow's form.
    """

    def __init__(self, handle: Handle, what: str) -> None:
        self._handle, self._what = handle, what
        self._names: list[str] | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        del requested_schema  # what is there is given; the caller casts
        return _arrow.capsule(self._handle.address)

    @property
    def num_rows(self) -> int:
        return int(library().gpustrata_table_rows(self._handle.address))

    @property
    def column_names(self) -> list[str]:
        if self._names is None:
            self._names = _arrow.columns(self._handle.address, only_names=True)[0]
        return list(self._names)

    def __len__(self) -> int:
        return self.num_rows

    def to_pydict(self) -> dict[str, list[Any]]:
        """{column: list of values}, None where there is none."""
        names, values = _arrow.columns(self._handle.address)
        return dict(zip(names, values))

    def to_arrow(self) -> Any:
        """A pyarrow.Table (the extra `arrow`)."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; needs pandas and pyarrow."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars.DataFrame; needs polars."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<gpustrata.Table {self._what}: {self.num_rows:,} rows of {', '.join(self.column_names)}>"
