#!/usr/bin/env python3
"""Fails on an import of the page's TypeScript that points upward, sideways or in a circle (the rule of web/README.md).

  check_web_layers.py ROOT         check web/engine and web/src below ROOT
  check_web_layers.py --self-test  prove on planted files that it can fail
"""
import posixpath
import re
import sys
import tempfile
from pathlib import Path

# Bottom up; rooms of one row know nothing of each other.
ROWS = [
    ["base"],
    ["engine"],
    ["model"],
    ["controls", "draw", "words"],
    ["series", "fleet"],
    ["timeline", "panels", "details", "files"],
    ["viewer"],
    ["page"],
]
RANK = {room: rank for rank, row in enumerate(ROWS) for room in row}
# Rooms that know no document: they run in Node and in workers. (`File`, `Blob` and timers are no document.)
WITHOUT_DOM = {"engine", "model", "words"}
DOM = re.compile(r"\b(document|window|localStorage|sessionStorage|history|location|navigator)\.|\bHTML\w*Element\b|from 'lit[/']")
# Packages that a room may import; `engine-glue` is the engine's script as it is built.
PACKAGES = {"lit": set(RANK) - {"base"} - WITHOUT_DOM, "engine-glue": {"engine"}}
# import ... from 'x', export ... from 'x', import 'x', import('x'); types as well: who knows a type knows its room.
IMPORT = re.compile(r"""(?:\bfrom\s+|^[ \t]*import\s+|\bimport\(\s*)(['"])([^'"\n]+)\1""", re.MULTILINE)
COMMENT = re.compile(r"^\s*(//|\*|/\*).*$", re.MULTILINE)


def owner(path):
    """The room (`model`) that a path relative to the root belongs to, or None."""
    parts = path.split("/")
    if parts[:2] == ["web", "engine"]:
        return "engine"
    if parts[:2] == ["web", "src"] and len(parts) > 3:
        return parts[2]
    return None


def violation(file, target):
    """Why `file` may not import `target`, a path relative to the root or the name of a package; or None."""
    room = owner(file)
    if room not in RANK:
        return f"{file} lies in no room: add its folder to ROWS in check_web_layers.py"
    if not target.startswith("web/"):
        package = target.split("/")[0]
        return None if room in PACKAGES.get(package, ()) else f"{room} may not import {package}"
    into = owner(target)
    if into not in RANK:
        return f"{target} lies in no room"
    if room == into:
        return panels_apart(file, target)
    return None if RANK[into] < RANK[room] else f"{room} may not import {into}, which is not below it"


def panels_apart(file, target):
    """Panels know nothing of each other: panels/state/ may not import panels/address_map/."""
    one, other = (posixpath.dirname(path).split("/")[3:4] for path in (file, target))
    return f"panel {one[0]} may not import panel {other[0]}" if "/panels/" in file and one and other and one != other else None


def circles(imports):
    """Each circle once, as a list of files. `imports`: file -> files."""
    found, done, path = [], set(), []

    def visit(file):
        if file in path:
            found.append(path[path.index(file) :] + [file])
            return
        if file in done:
            return
        path.append(file)
        for target in sorted(imports.get(file, ())):
            visit(target)
        path.pop()
        done.add(file)

    for file in sorted(imports):
        visit(file)
    return found


def check(root):
    """(number of imports read, list of messages)"""
    count, problems, imports = 0, [], {}
    for path in sorted([*(root / "web/engine").rglob("*.ts"), *(root / "web/src").rglob("*.ts")]):
        file = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        line_of = lambda at: text.count("\n", 0, at) + 1
        imports[file] = set()
        for match in IMPORT.finditer(text):
            target = match[2]
            if target.startswith("."):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
                imports[file].add(target)
            count += 1
            reason = violation(file, target)
            if reason:
                problems.append(f"{file}:{line_of(match.start(2))}: '{match[2]}': {reason}")
        if owner(file) in WITHOUT_DOM:
            for match in DOM.finditer(COMMENT.sub(lambda found: " " * len(found[0]), text)):
                problems.append(f"{file}:{line_of(match.start())}: {match[0]}: {owner(file)} knows no document")
    problems += ["circle: " + " -> ".join(circle) for circle in circles(imports)]
    return count, problems


# ({file: text}, allowed)
CASES = [
    ({"web/src/base/a.ts": "import { b } from './b.ts';"}, True),
    ({"web/src/base/a.ts": "import { b } from '../engine/b.ts';"}, False),
    ({"web/src/base/a.ts": "import { html } from 'lit';"}, False),
    ({"web/engine/a.ts": "import { b } from '../src/base/b.ts';"}, True),
    ({"web/engine/a.ts": "import type { b } from '../src/model/b.ts';"}, False),
    ({"web/src/model/a.ts": "import type { B } from '../../engine/b.ts';"}, True),
    ({"web/src/model/a.ts": "import type { B } from '../draw/b.ts';"}, False),
    ({"web/src/model/a.ts": "import {\n  b,\n  c,\n} from '../words/b.ts';"}, False),
    ({"web/src/model/a.ts": "export { b } from '../words/b.ts';"}, False),
    ({"web/src/model/a.ts": "document.title = '';"}, False),
    ({"web/src/model/a.ts": "// what document.title says"}, True),
    ({"web/src/words/a.ts": "import { html } from 'lit/html.js';"}, False),
    ({"web/src/words/a.ts": "import { b } from '../draw/b.ts';"}, False),
    ({"web/src/controls/a.ts": "import { html } from 'lit';\nimport { b } from '../base/b.ts';"}, True),
    ({"web/src/controls/a.ts": "import x from 'left-pad';"}, False),
    ({"web/src/panels/state/a.ts": "import { b } from '../panel.ts';"}, True),
    ({"web/src/panels/state/a.ts": "import { b } from '../address_map/b.ts';"}, False),
    ({"web/src/panels/state/a.ts": "import '../../timeline/b.ts';"}, False),
    ({"web/src/panels/registry.ts": "const a = () => import('./state/a.ts');"}, True),
    ({"web/src/panels/registry.ts": "const a = () => import('../viewer/a.ts');"}, False),
    ({"web/src/viewer/a.ts": "import '../timeline/b.ts';"}, True),
    ({"web/src/viewer/a.ts": "import '../page/b.ts';"}, False),
    ({"web/src/page/a.ts": "import '../viewer/b.ts';"}, True),
    ({"web/src/extras/a.ts": "import '../base/b.ts';"}, False),
    ({"web/src/base/a.ts": "import './b.ts';", "web/src/base/b.ts": "import './a.ts';"}, False),
    ({"web/src/base/a.ts": "import './b.ts';", "web/src/base/b.ts": "import './c.ts';"}, True),
    (
        {
            "web/src/base/a.ts": "import './b.ts';",
            "web/src/base/b.ts": "import './c.ts';",
            "web/src/base/c.ts": "import type { A } from './a.ts';",
        },
        False,
    ),
]


def self_test():
    failures = []
    for files, allowed in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for file, text in files.items():
                path = Path(folder, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"// comment\n{text}\n")
            problems = check(Path(folder))[1]
            if bool(problems) == allowed:
                failures.append(f"{files}: problems {problems}")
    print("\n".join(failures) or f"all {len(CASES)} planted cases judged as expected")
    return not failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    count, problems = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(problems) or f"{count} imports, none upward or sideways, no circle")
    return 1 if problems else 0


sys.exit(main())
