#!/usr/bin/env python3
"""report.py RESULTS README: writes the tables of README from RESULTS/*.jsonl, between its two markers."""

import datetime
import json
import os
import pathlib
import platform
import sys

BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def machine():
    model = platform.machine()
    memory = ""
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
        memory = open("/proc/meminfo").readline().split()[1]
        memory = f", {int(memory) / 2**20:.0f} GiB"
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores{memory}"


def number(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def row(result, second):
    """`second`: the table has columns for a second reference."""
    unit, reference = result["unit"], result.get("reference")
    cells = [result["work"], f"{reference}: {number(result['reference_value'])} {unit}" if reference else "-"]
    if second:
        value = result.get("second_value")
        cells.append(f"{number(value)} {unit}" if value is not None else "-")
    cells += [f"{number(result['measured'])} {unit}", result.get("ratio") or "-"]
    if second:
        cells.append(result.get("second_ratio") or "-")
    cells += [result["goal"] or "-", "-" if not result["goal"] else "yes" if result["met"] else "**no**"]
    return table_line(cells)


def table_line(cells):
    return f"| {' | '.join(cells)} |"


def table(rows):
    second = next((r["second_reference"] for r in rows if "second_reference" in r), None)
    titles = ["work", "reference", "measured", "ratio", "goal", "met"]
    if second:
        titles.insert(4, f"ratio, {second}")
        titles.insert(2, second)
    return [table_line(titles), "|" + "---|" * len(titles), *(row(r, second) for r in rows)]


def sections(text):
    """Of the tables: their lines by name."""
    found = {}
    for part in text.split("### ")[1:]:
        found[part.split(",")[0]] = ("### " + part).rstrip("\n").split("\n") + [""]
    return found


def main():
    results, readme = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = readme.read_text()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    parts = sections(old)  # those that were measured elsewhere stay
    for path in results.glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
        if not rows:
            continue
        date = datetime.date.fromtimestamp(path.stat().st_mtime)
        parts[path.stem] = [f"### {path.stem}, {date}, {machine()}", "", *table(rows), ""]
    lines = [line for name in sorted(parts) for line in parts[name]]
    readme.write_text(before + BEGIN + "\n" + "\n".join(lines) + END + after)


main()
