"""The copy of the working tree in which faults are planted: build/faults/tree."""
import os
import shutil
import subprocess
from pathlib import Path

from rooms import ROOT

FOLDER = ROOT / "build/faults"
TREE = FOLDER / "tree"


def put(path, data):
    """Writes only what differs, so that only that is built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy(changed):
    """What git knows or would take; `changed` (name: bytes) instead of the files of these names."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                            check=True).stdout.decode().split("\0")
    names = {name for name in listed if name and (ROOT / name).is_file()}
    for path in [path for path in TREE.rglob("*") if path.is_file() or path.is_symlink()] if TREE.exists() else []:
        inside = path.relative_to(TREE)
        if inside.parts[0] != "build" and "node_modules" not in inside.parts and str(inside) not in names | set(changed):
            path.unlink()
    for name, data in changed.items():
        put(TREE / name, data)
    for name in names - set(changed):
        source, target = ROOT / name, TREE / name
        if source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.symlink_to(os.readlink(source))
        elif not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    # Real files lie beside the tree; what is built without faults is used as it is.
    links = [(FOLDER / "shared", ROOT.parent / "shared")]
    links += [(TREE / name, ROOT / name) for name in ("build/libraries", "build/native-release", "build/native-checked",
                                                      "build/python-env", "build/wasm",
                                                      "web/node_modules", "tests/node_modules")]
    for link, there in links:
        if there.exists() and not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(there.resolve(), link)
