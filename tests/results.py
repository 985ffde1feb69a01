#!/usr/bin/env python3
"""Sums the results of all test runners.

  results.py FOLDER                   read FOLDER/*.xml (JUnit, from CTest, pytest, Node and Playwright) and FOLDER/*.tsv,
                                      name what failed and what was skipped, print the counts as the last line; fails
                                      if a test failed, ran in no result, or was skipped for no good reason
  results.py FOLDER --add GROUP NAME OK|FAIL     add one result to FOLDER/GROUP.tsv
  results.py --self-test                         shows that each of these is found

An entry NAME of CTest in FOLDER/GROUP.xml that wrote down its own tests, in FOLDER/GROUP/NAME.xml ('/' as '.'), counts as
those. A skip is allowed where this machine has no CUDA device or the folder ../shared/data is absent, where a test
measures what a sanitizer replaces, and where an older Python writes other files; its reason must say so.
"""
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

GOOD_REASON = re.compile(r"shared/data|CUDA d(?:evice|river)|sanitizer|Python before", re.IGNORECASE)


def reason_of(case, skipped):
    """Why a test was skipped, in one line; Playwright keeps it as a property, the others with the element."""
    texts = [property.get("value") or "" for property in case.iter("property") if property.get("name") in ("skip", "fixme")]
    texts += [skipped.get("message") or "", skipped.text or ""] if skipped is not None else []
    texts += [out.text or "" for out in case.iter("system-out")]
    return " ".join(" ".join(text.split()) for text in texts if text.strip())


def cases(path):
    """Yields (name, verdict, reason) of each test case of a JUnit file."""
    for case in ElementTree.parse(path).iter("testcase"):
        # CTest and Node repeat the name, or the word "test", as the class.
        classname, name = case.get("classname"), case.get("name")
        if classname not in (None, "", "test", name):
            name = f"{classname} > {name}"
        tags = {child.tag for child in case}
        if tags & {"failure", "error"} or case.get("status") == "fail":
            yield name, "failed", ""
        elif "skipped" in tags or case.get("status") in ("notrun", "disabled"):
            yield name, "skipped", reason_of(case, case.find("skipped"))
        else:
            yield name, "passed", ""


def junit(path):
    """The same, an entry of CTest in parts where it has some."""
    for name, verdict, reason in cases(path):
        parts = path.with_suffix("") / f"{name.replace('/', '.')}.xml"
        if not parts.exists():
            yield name, verdict, reason
            continue
        counted = Counter()
        for part, part_verdict, part_reason in readable(cases(parts)):
            counted[part_verdict] += 1
            yield f"{name}: {part}", part_verdict, part_reason
        if verdict == "failed" and not counted["failed"]:
            yield f"{name} ended with an error", "failed", ""
        if not counted:
            yield f"{name} ran no test", "failed", ""


def tsv(path):
    for line in path.read_text().splitlines():
        verdict, name = line.split("\t")
        yield name, verdict, ""


def readable(results):
    """The same, what cannot be read as a failure."""
    try:
        yield from results
    except ElementTree.ParseError as error:
        yield f"unreadable results: {error}", "failed", ""


def judged(results):
    """The same, where a skip without a good reason is a failure."""
    for name, verdict, reason in readable(results):
        if verdict == "skipped" and not GOOD_REASON.search(reason):
            yield f"{name}: skipped, which is allowed without a CUDA device or ../shared/data only: {reason or 'no reason'}", "failed", ""
        else:
            yield name, verdict, reason


def summed(folder):
    """Prints what failed and was skipped in `folder`; returns the counts."""
    total = Counter()
    for path in sorted(folder.glob("*.xml")) + sorted(folder.glob("*.tsv")):
        found = list(judged(junit(path) if path.suffix == ".xml" else tsv(path)))
        count = Counter(verdict for _, verdict, _ in found)
        print(f"{path.stem:20}" + ", ".join(f"{count[verdict]} {verdict}" for verdict in ("passed", "failed", "skipped") if count[verdict]))
        for name, verdict, _ in found:
            if verdict == "failed":
                print(f"    FAILED {name}")
        reasons = Counter(reason[:100] for _, verdict, reason in found if verdict == "skipped")
        for reason, times in reasons.most_common():
            print(f"    skipped {times}: {reason}")
        total += count
    return total


def self_test():
    xml = "<testsuite>{}</testsuite>".format
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ctest").mkdir()
        (folder / "ctest.xml").write_text(xml(
            '<testcase name="unit.Alone" classname="unit.Alone"/><testcase name="unit.A/B" status="fail"/>'
            '<testcase name="unit.Broken" status="fail"/><testcase name="unit.Empty"/><testcase name="python.x"/>'
            '<testcase name="gpu.x" status="notrun"><skipped/><system-out>no CUDA device here</system-out></testcase>'))
        (folder / "ctest" / "unit.A.B.xml").write_text(xml('<testcase name="one"/><testcase name="two"><failure/></testcase>'))
        (folder / "ctest" / "unit.Broken.xml").write_text(xml('<testcase name="one"/>'))
        (folder / "ctest" / "unit.Empty.xml").write_text(xml(""))
        (folder / "ctest" / "python.x.xml").write_text(xml(
            '<testcase name="data"><skipped message="../shared/data is not here"/></testcase>'
            '<testcase name="lazy"><skipped message="no pyarrow"/></testcase>'))
        (folder / "page.xml").write_text(xml(
            '<testcase name="a"><properties><property name="skip" value="needs ../shared/data"/></properties><skipped/></testcase>'
            '<testcase name="b"><skipped/></testcase>'))
        (folder / "cut.xml").write_text("<testsuite><testcase")
        (folder / "steps.tsv").write_text("passed\tlint\nfailed\tguard\n")
        count = summed(folder)
    # passed: Alone, one of A/B, one of Broken, lint. failed: two of A/B, Broken's end, Empty, lazy, b, cut, guard.
    assert count == Counter(passed=4, failed=7, skipped=3), count


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    folder = Path(sys.argv[1])
    if sys.argv[2:3] == ["--add"]:
        group, name, verdict = sys.argv[3:6]
        with open(folder / f"{group}.tsv", "a") as out:
            out.write(f"{'passed' if verdict == 'OK' else 'failed'}\t{name}\n")
        return 0
    total = summed(folder)
    print(f"{total['passed']} passed, {total['failed']} failed" + (f", {total['skipped']} skipped" if total["skipped"] else ""))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
