"""Facts as the tables of engine/fleet/README.md, in SQLite and in DuckDB, and the answers of its SQL. For tests."""
import pathlib
import sqlite3

SQL = pathlib.Path(__file__).resolve().parents[2] / "engine" / "fleet"
TEXT = {"file", "run", "host", "snapshot", "format", "oom_stack"}
KEYS = ["file", "run", "rank", "host", "world_size", "snapshot", "device", "input_bytes", "format", "events", "damaged",
        "diagnostics", "first_us", "last_us", "start_requested", "peak_requested", "peak_event", "peak_us", "end_requested",
        "peak_reserved", "end_reserved", "end_allocated", "cached", "held_back", "fragmentation", "ooms", "oom_event",
        "oom_us", "oom_requested", "oom_device_free", "oom_stack", "leaks", "leak_bytes", "step_count"]
LISTS = {
    "peak_stacks": ["stack", "requested", "blocks"],
    "leak_stacks": ["stack", "bytes_per_step", "live_bytes", "steps"],
    "steps": ["step", "first_us", "peak_requested", "end_requested"],
}


def empty_line(**known):
    """A line of which nothing is known but this."""
    line = dict.fromkeys(KEYS)
    line.update(file="", run="", host="", snapshot="", device=0, damaged=False, ooms=0,
                peak_stacks=[], leak_stacks=[], steps=[], stacks=[])
    line.update(known)
    return line


def kind_of(column):
    if column in TEXT or column in ("stack", "who", "category", "kind", "name"):
        return "VARCHAR"
    return {"damaged": "BOOLEAN", "fragmentation": "DOUBLE"}.get(column, "BIGINT")


def load(connection, lines, groups=()):
    """The tables into an empty database; `connection` has execute() and executemany()."""
    def table(name, columns, rows):
        connection.execute(f"CREATE TABLE {name} ({', '.join(f'{c} {kind_of(c)}' for c in columns)})")
        if rows:
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)

    table("lines", ["id", *KEYS], [(i, *(line[key] for key in KEYS)) for i, line in enumerate(lines)])
    for name, keys in LISTS.items():
        table(name, ["id", *keys], [(i, *(one[key] for key in keys)) for i, line in enumerate(lines) for one in line[name]])
    stacks = {one["stack"]: (one["stack"], one["who"], one["category"]) for line in lines for one in line["stacks"]}
    table("stacks", ["stack", "who", "category"], list(stacks.values()))
    said = {(line["run"], line["rank"], g["kind"], g["name"]) for line in lines for g in line.get("groups", ())
            if line["rank"] is not None and g["kind"] not in {given["kind"] for given in groups}}
    table("groups", ["run", "rank", "kind", "name"],
          [(g["run"], g["rank"], g["kind"], g["name"]) for g in groups] + sorted(said))
    connection.execute("CREATE TABLE facts AS " + text("facts"))
    return connection


def text(name):
    return (SQL / f"{name}.sql").read_text()


def names():
    return sorted(path.stem for path in SQL.glob("*.sql"))


def ask(connection, name):
    """Rows as dicts."""
    cursor = connection.execute(text(name))
    columns = [one[0] for one in cursor.description]
    return [dict(zip(columns, row)) for row in cursor.fetchall()]


def sqlite(lines, groups=()):
    return load(sqlite3.connect(":memory:"), lines, groups)


def duckdb(lines, groups=()):
    import duckdb

    return load(duckdb.connect(config={"threads": 1}), lines, groups)  # tables of a few rows: more only wait for each other
