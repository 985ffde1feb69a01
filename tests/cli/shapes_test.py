"""The members that the READMEs name, against the schemas that the command prints."""
import json
import re

import pytest
from support.paths import ROOT
from support.tool import out_of

SCHEMA = json.loads(out_of("schema"))
FAILURE = "failure"


def defs_of(schema):
    """What a schema refers to, itself first."""
    found, left = [], [schema]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            name = one.get("$ref", "").removeprefix("#/$defs/")
            if name and SCHEMA["$defs"][name] not in found:
                left.append(SCHEMA["$defs"][name])
            found += [one] if "properties" in one else []
            left += one.values()
    return found


def members(*lines):
    return {name for line in lines for one in defs_of(SCHEMA["lines"][line]) for name in one["properties"]}


def shapes():
    """(command, text) of every JSON in the sections of the command's README; in "a": "b" only a is a member."""
    readme = (ROOT / "engine/cli/README.md").read_text()
    for section in re.split(r"^## ", readme, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        command = re.match(r"`(\w+)", title)
        for block in re.findall(r"^```\n(\{.*?)^```|`(\{\"[^`]*\})`", text, re.MULTILINE | re.DOTALL):
            if command:
                yield command[1], "".join(block)


ALL = [pytest.param(*shape, id=f"{shape[0]} {index}") for index, shape in enumerate(shapes())]


@pytest.mark.parametrize(("command", "text"), ALL)
def test_members_are_those_of_the_schema(command, text):
    lines = [line for line in SCHEMA["lines"] if line.split()[0] == command]
    named = set(re.findall(r'(?<![:|]) ?"([a-z_0-9]+)"', text.replace('": "', '":"').replace('| "', '|"')))
    assert named - members(*lines, FAILURE) == set()


def test_shapes_are_found():
    assert {"report", "compare", "summary", "check", "anonymize", "convert"} <= {shape.values[0] for shape in ALL}


@pytest.mark.parametrize(("line", "heading"), [("facts", "## Facts"), ("fleet --json", "## The reduced file")])
def test_keys_of_the_fleet_are_those_of_the_schema(line, heading):
    readme = (ROOT / "engine/fleet/README.md").read_text()
    section = readme[readme.index(heading):].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.MULTILINE)
    keys = {key for first, _ in rows for key in re.findall(r"`(\w+)`", first)}
    top = [SCHEMA["$defs"][one["$ref"].removeprefix("#/$defs/")]["properties"]
           for one in SCHEMA["lines"][line].get("oneOf", [SCHEMA["lines"][line]])]
    assert keys | {"error"} == {name for one in top for name in one} | {"error"}


def columns_of_tables():
    """(head, what it says) of every table of columns in the command's README."""
    for table in re.findall(r"^\| column \| what it says \|\n\|---\|---\|\n((?:\|.*\n)+)", (ROOT / "engine/cli/README.md").read_text(),
                            re.MULTILINE):
        for row in table.splitlines():
            head, says = re.fullmatch(r"\| (.*?)(?: \(wide\))? \| (.*) \|", row).groups()
            yield pytest.param(head, says, id=head)


@pytest.mark.parametrize(("head", "says"), list(columns_of_tables()))
def test_columns_say_what_the_schema_says(head, says):
    heads = {one.get("title", "").lower(): one.get("description") for one in
             SCHEMA["$defs"]["OpLine"]["properties"].values()}
    assert heads[head] == says
