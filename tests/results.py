#!/usr/bin/env python3
"""Sums the results of all test runners.

  results.py FOLDER                   read FOLDER/*.xml (JUnit, from CTest, Node and Playwright) and FOLDER/*.tsv,
                                      name what failed, print the counts as the last line; fails if one failed
  results.py FOLDER --add GROUP NAME OK|FAIL     add one result to FOLDER/GROUP.tsv
"""
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def junit(path):
    """Yields (name, verdict) of each test case."""
    for case in ElementTree.parse(path).iter("testcase"):
        # CTest and Node repeat the name, or the word "test", as the class.
        classname, name = case.get("classname"), case.get("name")
        if classname not in (None, "", "test", name):
            name = f"{classname} > {name}"
        tags = {child.tag for child in case}
        if tags & {"failure", "error"} or case.get("status") == "fail":
            yield name, "failed"
        elif "skipped" in tags or case.get("status") in ("notrun", "disabled"):
            yield name, "skipped"
        else:
            yield name, "passed"


def tsv(path):
    for line in path.read_text().splitlines():
        verdict, name = line.split("\t")
        yield name, verdict


def main():
    folder = Path(sys.argv[1])
    if sys.argv[2:3] == ["--add"]:
        group, name, verdict = sys.argv[3:6]
        with open(folder / f"{group}.tsv", "a") as out:
            out.write(f"{'passed' if verdict == 'OK' else 'failed'}\t{name}\n")
        return 0

    total = {"passed": 0, "failed": 0, "skipped": 0}
    for path in sorted(folder.glob("*.xml")) + sorted(folder.glob("*.tsv")):
        count = dict.fromkeys(total, 0)
        failures = []
        try:
            for name, verdict in junit(path) if path.suffix == ".xml" else tsv(path):
                count[verdict] += 1
                if verdict == "failed":
                    failures.append(name)
        except ElementTree.ParseError as error:
            count["failed"] += 1
            failures.append(f"unreadable results: {error}")
        print(f"{path.stem:20}" + ", ".join(f"{n} {verdict}" for verdict, n in count.items() if n))
        for name in failures:
            print(f"    FAILED {name}")
        for verdict, n in count.items():
            total[verdict] += n
    line = f"{total['passed']} passed, {total['failed']} failed"
    print(line + (f", {total['skipped']} skipped" if total["skipped"] else ""))
    return 1 if total["failed"] or not total["passed"] else 0


sys.exit(main())
