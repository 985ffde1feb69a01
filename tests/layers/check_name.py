#!/usr/bin/env python3
"""Fails where the product is called by the name that it had before: a stranger's package of the Python registry has that name.

  check_name.py ROOT         check the names and the bytes of all files below ROOT, but what is built or installed
  check_name.py --self-test  prove on planted files that it can fail
"""
import os
import sys
import tempfile
from pathlib import Path

OLD = b"mem" + b"strata"
NOT_OURS = {".git", "build", "node_modules", "__pycache__"}


def files_below(root: Path):
    for folder, inside, names in os.walk(root):
        inside[:] = sorted(set(inside) - NOT_OURS)
        yield from (Path(folder) / name for name in sorted(names))


def problems(root: Path) -> list[str]:
    found = []
    for path in files_below(root):
        name = path.relative_to(root)
        if OLD in str(name).lower().encode():
            found.append(f"{name}: the old name in the file's name")
        if path.is_symlink():
            target = os.readlink(path)
            if OLD in target.lower().encode():
                found.append(f"{name}: the old name in a link to {target}")
            continue
        for number, line in enumerate(path.read_bytes().lower().split(b"\n"), 1):
            if OLD in line:
                found.append(f"{name}:{number}: the old name")
    return found


def self_test() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        old = OLD.decode()
        (root / "build").mkdir()
        (root / "build" / "log").write_text(old)
        (root / "good.md").write_text("gpustrata\n")
        assert problems(root) == [], problems(root)
        (root / "text.md").write_text(f"one\nexport {old.upper()}_DATA=1\n")
        (root / f"{old}.h").write_bytes(b"\0" + OLD.title())
        (root / "link").symlink_to(f"{old}.h")
        assert problems(root) == [
            f"link: the old name in a link to {old}.h",
            f"{old}.h: the old name in the file's name",
            f"{old}.h:1: the old name",
            "text.md:2: the old name",
        ], problems(root)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        found = problems(Path(sys.argv[1]))
        print(*found, sep="\n")
        sys.exit(bool(found))
