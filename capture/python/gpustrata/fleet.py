"""Facts of a thousand ranks, and the questions about them (engine/fleet/README.md), on engines that people have.

    from gpustrata import fleet

    paths = fleet.find("job/run=a")                          # or "s3://bucket/job/run=a/*.pickle"
    table = fleet.read(paths)                                # map: a row for each device of each file
    db = fleet.reduce(table)                                 # tables in DuckDB
    print(fleet.query(db, "outliers"))                       # one of fleet.queries()

Spark:   files = spark.createDataFrame([(path,) for path in paths], "path string").repartition(len(paths))
         facts = files.mapInArrow(fleet.map_in_arrow, fleet.spark_schema())
Ray:     files = ray.data.from_items([{"path": path} for path in paths])
         facts = files.map_batches(fleet.map_batch, batch_format="pyarrow", batch_size=1)

A file that cannot be read is a row with `error`, not an exception: one of ten thousand ends no job, and none is lost.
facts() needs no other package, rows in Arrow need pyarrow, reduce() duckdb, addresses ("s3://...") fsspec.
"""
from __future__ import annotations

import csv
import glob
import hashlib
import io
import json
import os
import pathlib
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from gpustrata._facts import facts_lines, failed_line, raise_failed
from gpustrata._native import folder

if TYPE_CHECKING:
    import pyarrow

__all__ = ["facts", "find", "map_batch", "map_in_arrow", "queries", "query", "read", "read_groups", "record_batch", "reduce",
           "schema", "spark_schema", "spark_tables", "sql", "write"]

VERSION = 1  # of the facts
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_GROUPS = ("run", "rank", "kind", "name")


# -- Map: facts of a file.
def find(place: str | os.PathLike[str]) -> list[str]:
    """Paths of all files in a folder and those inside, or of a pattern; "s3://bucket/run=a" through fsspec. Sorted."""
    name = os.fspath(place)
    if "://" in name:
        import fsspec

        store, root = fsspec.core.url_to_fs(name)
        found = store.glob(root) if glob.has_magic(root) else store.find(root)
        return sorted(store.unstrip_protocol(path) for path in found)
    if os.path.isdir(name):
        name = os.path.join(glob.escape(name), "**")
    return sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))


def facts(source: Any, *, name: str | None = None, run: str | None = None, rank: int | None = None, host: str | None = None,
          world_size: int | None = None, memory_limit: int = 0, errors: str = "raise") -> list[dict[str, Any]]:
    """Facts of each device of a file, as dicts.

    source: a path, an address ("s3://..."), bytes, or what has read(). It is read in pieces and kept nowhere.
    name: of bytes and streams; its folders and its end tell run, rank and host, unless they are said here.
    memory_limit: bytes that the file's tables may take; 0 = three quarters of the machine's memory.
    errors: "raise" (FileError, OSError, MemoryError), or "row": one with `error`.
    """
    options = _options(run, rank, host, world_size)
    if errors == "row":
        text = _text_of(source, name, options, memory_limit)
    elif errors == "raise":
        text, is_read = facts_lines(source, options, name, memory_limit)
        if not is_read:
            raise_failed(name or (os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""), text)
    else:
        raise ValueError(f'errors is "raise" or "row", but it is {errors!r}')
    return [json.loads(line) for line in text.splitlines()]


def _options(run: str | None, rank: int | None, host: str | None, world_size: int | None) -> list[str]:
    said = {"run": run, "rank": rank, "host": host, "world-size": world_size}
    return [f"--{key}={value}" for key, value in said.items() if value is not None]


def _text_of(source: Any, name: str | None, options: list[str], memory_limit: int = 0) -> str:
    try:
        return facts_lines(source, options, name, memory_limit)[0]
    except OSError as error:
        path = source if isinstance(source, (str, os.PathLike)) else name or ""
        return failed_line(os.fspath(path), options, "unreadable", error.strerror or str(error))


def schema() -> pyarrow.Schema:
    """Columns of facts in Arrow and Parquet, the same for every file."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()

    def rows(**fields: Any) -> Any:
        return pa.list_(pa.struct(list(fields.items())))

    types = {name: text for name in ("file", "run", "host", "snapshot", "format", "oom_stack")}
    types.update(damaged=pa.bool_(), fragmentation=pa.float64())
    names = ("gpustrata_facts file run rank host world_size snapshot device input_bytes format events damaged diagnostics "
             "first_us last_us start_requested peak_requested peak_event peak_us end_requested peak_reserved end_reserved "
             "end_allocated cached held_back fragmentation ooms oom_event oom_us oom_requested oom_device_free oom_stack "
             "leaks leak_bytes step_count").split()
    return pa.schema([(name, types.get(name, number)) for name in names] + [
        ("groups", rows(kind=text, name=text)),
        ("peak_stacks", rows(stack=text, requested=number, blocks=number)),
        ("leak_stacks", rows(stack=text, bytes_per_step=number, live_bytes=number, steps=number)),
        ("steps", rows(step=number, first_us=number, peak_requested=number, end_requested=number)),
        ("curve", pa.struct([("from_us", number), ("to_us", number), ("allocated", pa.list_(number)),
                             ("reserved", pa.list_(number))])),
        ("stacks", rows(stack=text, who=text, category=text, frames=rows(filename=text, line=number, name=text))),
        ("error", pa.struct([("code", text), ("message", text), ("offset", number)]))])


def record_batch(text: str | bytes) -> pyarrow.RecordBatch:
    """Lines of facts in Arrow. Keys that this version does not know are left out."""
    import pyarrow as pa
    import pyarrow.json

    data = text.encode() if isinstance(text, str) else text
    if not data.strip():
        return pa.RecordBatch.from_pylist([], schema())
    table = pyarrow.json.read_json(
        pa.BufferReader(data), pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        pyarrow.json.ParseOptions(explicit_schema=schema(), unexpected_field_behavior="ignore"))
    return table.select(schema().names).combine_chunks().to_batches()[0]


def _map(files: Any, options: list[str]) -> pyarrow.RecordBatch:
    """`files`: a batch or table with `path`, and with the bytes in `content` or `bytes`; without them they are read."""
    names = files.schema.names
    content = next((files.column(key) for key in ("content", "bytes") if key in names), None)
    texts = []
    for i, path in enumerate(files.column("path").to_pylist()):
        source = path if content is None else content[i].as_buffer()
        if source is None:
            source = b""
        texts.append(_text_of(source, path, options))
    return record_batch("".join(texts))


def map_in_arrow(batches: Iterable[pyarrow.RecordBatch], *, run: str | None = None, rank: int | None = None,
                 host: str | None = None, world_size: int | None = None) -> Iterator[pyarrow.RecordBatch]:
    """For Spark's DataFrame.mapInArrow, with spark_schema(): rows of files to rows of facts, a file at a time.

    Of a frame with `path` alone the files are read here, in pieces. One of spark.read.format("binaryFile") does, too (`path`,
    `content`), but Spark takes no more than 2 GB a file and leaves out empty ones without a word.
    """
    options = _options(run, rank, host, world_size)
    for batch in batches:
        for i in range(batch.num_rows):
            yield _map(batch.slice(i, 1), options)


def map_batch(files: pyarrow.Table, *, run: str | None = None, rank: int | None = None, host: str | None = None,
              world_size: int | None = None) -> pyarrow.Table:
    """For Ray's Dataset.map_batches with batch_format="pyarrow": a table of files to a table of facts.

    Of a dataset with `path` alone the files are read here, in pieces. One of ray.data.read_binary_files(include_paths=True)
    does, too (`path`, `bytes`), but Ray unpacks what is called .gz, and then `format` and `input_bytes` are of that.
    """
    import pyarrow as pa

    return pa.Table.from_batches([_map(files, _options(run, rank, host, world_size))])


def read(paths: Iterable[str | os.PathLike[str]], *, run: str | None = None, rank: int | None = None,
         host: str | None = None, world_size: int | None = None, threads: int | None = None) -> pyarrow.Table:
    """Facts of many files, on one machine: a thread for each core (None), each a file at a time."""
    import pyarrow as pa

    names = [os.fspath(path) for path in paths]
    one = partial(_batch_of, options=_options(run, rank, host, world_size))
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:  # the engine works without the interpreter's lock
        batches = list(pool.map(one, names))
    return pa.Table.from_batches(batches, schema())


def _batch_of(path: str, options: list[str]) -> pyarrow.RecordBatch:
    return record_batch(_text_of(path, None, options))


def write(facts: pyarrow.Table | Iterable[pyarrow.RecordBatch], folder: str | os.PathLike[str]) -> list[str]:
    """Facts as Parquet, FOLDER/run=NAME/rank=N/FILE.parquet for each file; the paths. All columns are in the files, too.

    A file appears whole or not at all, and with the same bytes every time: whoever writes it twice changes nothing.
    """
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.Table.from_batches(facts.to_batches() if isinstance(facts, pa.Table) else facts, schema())
    rows: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*(table.column(name).to_pylist() for name in ("run", "rank", "host", "file")))):
        rows.setdefault(key, []).append(i)
    written = []
    for (run, rank, host, file), places in rows.items():
        into = pathlib.Path(folder, "run=" + _value(run), f"rank={_HIVE_NULL if rank is None else rank}")
        into.mkdir(parents=True, exist_ok=True)
        name = "-".join(_value(part) for part in (host, file) if part) or "facts"
        if len(name) > 200:
            name = name[:150] + "-" + hashlib.sha256(name.encode()).hexdigest()[:32]
        path = into / (name + ".parquet")
        part = into / f".{path.name}.{os.getpid()}.part"
        try:
            pyarrow.parquet.write_table(table.take(places), part, compression="zstd")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        written.append(str(path))
    return written


def _value(text: str | None) -> str:
    """As the name of a folder; none and empty are one for Hive."""
    return urllib.parse.quote(text, safe=" +@,()") if text else _HIVE_NULL


# -- Reduce: tables and questions.
def _sql_folder() -> pathlib.Path:
    beside = pathlib.Path(folder, "sql")
    return beside if beside.is_dir() else pathlib.Path(folder).parents[2] / "engine" / "fleet"


def queries() -> list[str]:
    """Names of the questions."""
    return sorted(path.stem for path in _sql_folder().glob("*.sql") if path.stem != "facts")


def sql(name: str) -> str:
    """The SELECT of a question, or of the table `facts`."""
    path = _sql_folder() / f"{name}.sql"
    if name not in (*queries(), "facts"):
        raise ValueError(f"there is no question {name!r}, but {', '.join(queries())}")
    return path.read_text(encoding="utf-8")


def query(session: Any, name: str) -> Any:
    """The answer: a DuckDB relation, or a Spark DataFrame. `session`: from reduce(), or that of spark_tables()."""
    return session.sql(sql(name))


def _readable(row: str) -> str:
    """Never null, so that each row is among the facts or among what is unreadable."""
    return (f"({row}.error IS NULL AND COALESCE({row}.gpustrata_facts, 0) BETWEEN 1 AND {VERSION} "
            f"AND {row}.device IS NOT NULL AND {row}.file IS NOT NULL)")


def _tables(explode: str) -> dict[str, str]:
    """The tables of the contract in the order to make them, over `gpustrata_rows`, which has facts and `id`, and `groups_given`,
    which has the rows of `groups` that somebody gave."""
    names = [field.name for field in schema() if "<" not in str(field.type) and field.name != "gpustrata_facts"]
    columns = ", ".join(f"COALESCE({name}, '') AS {name}" if name in ("run", "host", "file", "snapshot") else name
                        for name in names)
    tables = {"lines": f"SELECT id, {columns} FROM gpustrata_rows WHERE {_readable('gpustrata_rows')}"}
    for name in ("peak_stacks", "leak_stacks", "steps", "stacks"):
        kept = ["stack", "who", "category"] if name == "stacks" else [f.name for f in schema().field(name).type.value_type]
        items = (f"SELECT id, {', '.join(f'item.{key} AS {key}' for key in kept)} FROM "
                 f"(SELECT id, {explode}({name}) AS item FROM gpustrata_rows WHERE {_readable('gpustrata_rows')}) AS items")
        tables[name] = items if name != "stacks" else (
            f"SELECT stack, MIN(who) AS who, MIN(category) AS category FROM ({items}) AS named GROUP BY stack")
    tables["unreadable"] = (
        f"SELECT file, run, rank, host, COALESCE(error.code, CASE WHEN gpustrata_facts > {VERSION} THEN 'unsupported' "
        "ELSE 'invalid_format' END) AS code, COALESCE(error.message, CASE WHEN gpustrata_facts > "
        f"{VERSION} THEN 'These facts are of a newer version.' ELSE 'This row is none of facts: it has no version, device or "
        f"file.' END) AS message FROM gpustrata_rows WHERE error IS NOT NULL OR NOT {_readable('gpustrata_rows')}")
    tables["facts"] = sql("facts")
    tables["groups"] = (
        "SELECT run, rank, kind, name FROM groups_given UNION ALL SELECT DISTINCT run, rank, item.kind AS kind, item.name AS name "
        f"FROM (SELECT COALESCE(run, '') AS run, rank, {explode}(groups) AS item FROM gpustrata_rows "
        f"WHERE rank IS NOT NULL AND {_readable('gpustrata_rows')}) AS said "
        "WHERE item.name IS NOT NULL AND item.kind NOT IN (SELECT kind FROM groups_given)")
    return tables


def reduce(facts: Any, *, groups: Any = None, database: str = ":memory:") -> Any:
    """A DuckDB connection with the tables of the contract, for query().

    facts: a pyarrow table or batches, or paths of Parquet and of JSON lines (.json, .jsonl, .gz, .zst), or folders of them.
        What JSON lines do not say of run, host and rank, folders run=NAME, host=NAME, rank=N do.
    groups: a CSV with the columns run, rank, kind, name, or dicts with these keys.
    database: a file, where the facts are too many for memory.
    """
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(database)
    empty = schema().empty_table()
    connection.register("batch", empty)
    connection.execute("CREATE OR REPLACE TABLE rows_given AS SELECT * FROM batch")
    names = ", ".join(schema().names)
    parquet: list[str] = []
    for given in _given(facts, parquet):
        connection.register("batch", pa.Table.from_batches(given, schema()))
        connection.execute(f"INSERT INTO rows_given SELECT {names} FROM batch")
    connection.unregister("batch")
    if parquet:
        connection.execute(f"INSERT INTO rows_given SELECT {names} FROM read_parquet(?, union_by_name = true, "
                           "hive_partitioning = false)", [parquet])
    connection.execute("CREATE OR REPLACE VIEW gpustrata_rows AS SELECT rowid AS id, * FROM rows_given")
    connection.execute("CREATE OR REPLACE TABLE groups_given (run VARCHAR, rank BIGINT, kind VARCHAR, name VARCHAR)")
    if members := read_groups(groups):
        connection.executemany("INSERT INTO groups_given VALUES (?, ?, ?, ?)", members)
    for name, text in _tables("unnest").items():
        connection.execute(f"CREATE OR REPLACE TABLE {name} AS {text}")
    return connection


def spark_schema() -> str:
    """schema() as Spark writes it."""
    def type_of(kind: Any) -> str:
        import pyarrow.types as types

        if types.is_list(kind):
            return f"array<{type_of(kind.value_type)}>"
        if types.is_struct(kind):
            return f"struct<{','.join(f'{field.name}:{type_of(field.type)}' for field in kind)}>"
        return {"int64": "bigint", "bool": "boolean"}.get(str(kind), str(kind))

    return ", ".join(f"{field.name} {type_of(field.type)}" for field in schema())


def spark_tables(session: Any, facts: Any, *, groups: Any = None) -> Any:
    """The tables of the contract as temporary views of a Spark session, which it returns, for query().

    facts: a DataFrame with schema(). Better one of written Parquet than that of the map itself, which Spark might run again.
    """
    from pyspark.sql import functions

    facts.select(*schema().names).withColumn("id", functions.monotonically_increasing_id()).persist(
    ).createOrReplaceTempView("gpustrata_rows")
    session.createDataFrame(read_groups(groups), "run string, rank bigint, kind string, name string"
                            ).createOrReplaceTempView("groups_given")
    for name, text in _tables("explode").items():
        session.sql(text).createOrReplaceTempView(name)
    return session


def read_groups(groups: Any) -> list[tuple[str, int, str, str]]:
    """Rows of the table `groups` from a path of a CSV, or from dicts. A run that is not said means all."""
    if groups is None:
        return []
    if isinstance(groups, (str, os.PathLike)):
        with open(groups, newline="", encoding="utf-8-sig") as file:
            groups = list(csv.DictReader(file))
    rows = []
    for number, row in enumerate(groups, 1):
        try:
            rows.append((row.get("run") or "", int(row["rank"]), row["kind"], str(row["name"])))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"groups: row {number} has not the columns {', '.join(_GROUPS)}: {row!r}") from None
    return rows


_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz", ".json.zst", ".jsonl.zst", ".parquet")


def _given(facts: Any, parquet: list[str]) -> Iterator[list[pyarrow.RecordBatch]]:
    """Batches of facts, some at a time; paths of Parquet go into `parquet`."""
    if hasattr(facts, "to_batches"):
        yield facts.to_batches()
        return
    for one in [facts] if isinstance(facts, (str, os.PathLike)) else facts:
        if not isinstance(one, (str, os.PathLike)):
            yield [one]
            continue
        path = pathlib.Path(one)
        inside = sorted(p for p in path.rglob("*") if p.name.endswith(_SUFFIXES) and not p.name.startswith("."))
        for file in inside if path.is_dir() else [path]:
            if file.name.endswith(".parquet"):
                parquet.append(str(file))
            else:
                yield [_batch_of_lines(file)]


def _batch_of_lines(path: pathlib.Path) -> pyarrow.RecordBatch:
    import pyarrow as pa

    with pa.input_stream(str(path), compression="detect") as stream:
        data = stream.read()
    try:
        batch = record_batch(data)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        batch = None
    if batch is None or any(_lacks(row) for row in batch.select(["file", "device", "error"]).to_pylist()):
        rows = [_row_of(line, path.name) for line in io.BytesIO(data) if line.strip()]
        batch = pa.RecordBatch.from_pylist(rows, schema())
    return _with_folders(batch, path)


def _lacks(row: dict[str, Any]) -> bool:
    """Whether it is no line of facts."""
    return row.get("error") is None and (row.get("file") is None or row.get("device") is None)


def _row_of(line: bytes, file: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if not isinstance(row, dict):
            message = "This line is no object."
        elif _lacks(row) and not row.get("gpustrata_facts", 0) > VERSION:
            message = "This line is none of facts: it has no \"device\" or no \"file\"."
        else:
            record_batch(line)
            return row
    except (TypeError, ValueError) as error:
        message = f"This line is no fact: {error}"
    return {"file": file, "error": {"code": "invalid_format", "message": message}}


def _with_folders(batch: pyarrow.RecordBatch, path: pathlib.Path) -> pyarrow.RecordBatch:
    """Partitions as Hive names them: what a row does not say of run, host and rank, the innermost folder of that name does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    said = {key: urllib.parse.unquote(value) for key, equals, value in (part.partition("=") for part in path.parts[:-1])
            if equals and value != _HIVE_NULL}
    columns = dict(zip(batch.schema.names, batch.columns))
    for key in ("run", "host"):
        if key in said:
            is_empty = pc.equal(pc.fill_null(columns[key], ""), "")
            columns[key] = pc.if_else(is_empty, pa.scalar(said[key]), columns[key])
    if said.get("rank", "").isdecimal() and int(said["rank"]) < 2**31:
        columns["rank"] = pc.fill_null(columns["rank"], int(said["rank"]))
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=batch.schema)
