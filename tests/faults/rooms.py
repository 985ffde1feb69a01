"""The rooms of the project, how many of 200 faults each gets (by its lines), and where its files lie."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# name: (faults, globs)
ROOMS = {
    "readers": (27, ["engine/io/**/*"]),
    "allocator": (13, ["engine/alloc/**/*", "engine/simulate/**/*", "engine/trace/**/*"]),
    "replay": (14, ["engine/replay/**/*"]),
    "analysis": (25, ["engine/analysis/**/*"]),
    "answers": (15, ["engine/answers/**/*"]),
    "session": (12, ["engine/session/**/*", "engine/model/**/*", "engine/base/**/*"]),
    "serve": (3, ["engine/serve/**/*"]),
    "command": (11, ["engine/cli/**/*", "engine/arrow/**/*", "engine/fleet/**/*"]),
    "capture": (20, ["capture/**/*"]),
    "page": (35, ["web/src/**/*", "web/engine/**/*"]),
    "python": (15, ["capture/**/*"]),
    "site": (10, ["site/*"]),
}
NATIVE = ("readers", "allocator", "replay", "analysis", "answers", "session", "serve", "command", "capture")
SUFFIXES = {"page": {".ts"}, "python": {".py"}, "site": {".mjs", ".js"}}
# Compiled elsewhere, or only checked; printed words.
LEFT_OUT = {"capture/cuda/driver_abi_check.cpp", "capture/gpustrata.h", "capture/gpustrata.hpp",
            "capture/python/gpustrata/companion.cpp", "site/sbom.mjs"}


def files_of(room, root=ROOT):
    suffixes = SUFFIXES.get(room, {".cpp", ".h"})
    found = {path for pattern in ROOMS[room][1] for path in root.glob(pattern) if
             path.is_file() and not path.is_symlink() and path.suffix in suffixes}
    names = sorted(str(path.relative_to(root)) for path in found)
    return [name for name in names if name not in LEFT_OUT and "node_modules" not in name]
