#!/usr/bin/env python3
"""Fails on an #include that points to a higher layer, and on JSON written outside of answers/ (rules of engine/README.md).

  check_layers.py ROOT         check engine/, wasm/ and capture/ below ROOT
  check_layers.py --self-test  prove on planted files that it can fail
"""
import re
import sys
import tempfile
from pathlib import Path

# Bottom up. `trace` lies below `alloc` inside layer 1: alloc may include trace, not the other way.
RANK = {"base": 0, "trace": 1.0, "alloc": 1.5, "model": 2, "io": 3, "simulate": 3.5, "replay": 4, "analysis": 5, "answers": 5.5, "session": 6}
# Clients of the engine: the engine folders that each may include.
CLIENTS = {
    "engine/arrow": set(RANK) - {"session"},
    "engine/cli": set(RANK) | {"engine/arrow", "engine/fleet", "engine/serve"},
    "engine/fleet": {"base", "model"},
    "engine/serve": {"base", "io", "analysis", "answers", "session"},
    "wasm": {"base", "model", "answers", "session"},
    "capture": {"base", "trace", "alloc", "model", "io"},
    "capture/python": set(RANK) | {"engine/arrow", "engine/cli"},
}
# What would tie the engine to one system: the operating system, threads, CUDA, Emscripten.
SYSTEM = re.compile(
    r"^(unistd|fcntl|dlfcn|dirent|pthread|signal|poll|windows|io|direct|mman|execinfo|link|elf)\.h$"
    r"|^(sys|linux|asm|arpa|netinet|net|mach)/"
    r"|^(cuda|cu[A-Z]|nvml|nvtx|emscripten)"
    r"|^c?signal$|^thread$|^filesystem$|^fstream$|^iostream$"
)
# Only these write JSON: answers, files (io, the settings of a dump), the wire around an answer.
WRITES_JSON = re.compile(r"^engine/(base|io|answers)/|^engine/model/recorded_snapshot\.cpp$|^engine/session/frame\.(h|cpp)$|^capture/")
JSON = re.compile(r"\bJsonWriter\b|json_writer\.h|[.>](begin|end)_(object|array)\(")
COMMENT = re.compile(r"//.*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".inc"}


def owner(path):
    """The layer folder (`base`) or client (`wasm`) that a path relative to the root belongs to, or None."""
    parts = path.split("/")
    if parts[:2] == ["capture", "python"]:
        return "capture/python"
    if parts[0] in ("wasm", "capture"):
        return parts[0]
    if parts[0] == "engine" and len(parts) > 2:
        return f"engine/{parts[1]}" if parts[1] in ("arrow", "cli", "fleet", "serve") else parts[1]
    return None


def violation(file, opening, target):
    """Why `file` may not include `target`, or None."""
    layer = owner(file)
    if layer in RANK and SYSTEM.search(target):
        return "system header in the portable engine"
    if layer == "capture" and target == "filesystem":
        return "the recorder uses the libstdc++ of the system, and that of RHEL 8 has no std::filesystem"
    if opening == "<":
        return None  # other packages
    if target.startswith("."):
        return "relative include: write it from the repository's root"
    into = owner(target)
    if into is None:
        return f'no folder of the project: write "engine/<layer>/<file>.h"'
    if layer == into:
        return None
    if layer in CLIENTS:
        return None if into in CLIENTS[layer] else f"{layer} may not include {into}"
    if layer not in RANK:
        return f"folder engine/{layer} has no layer: add it to RANK in check_layers.py"
    if into not in RANK or RANK[into] >= RANK[layer]:
        return f"{layer} may not include {into}, which is not below it"
    return None


def check(root):
    """(number of includes read, list of messages)"""
    count, problems = 0, []
    for top in ("engine", "wasm", "capture"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            file = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8", errors="replace")
            for match in INCLUDE.finditer(text):
                count += 1
                reason = violation(file, match[1], match[2])
                if reason:
                    line = text.count("\n", 0, match.start(2)) + 1
                    problems.append(f"{file}:{line}: #include {match[1]}{match[2]}: {reason}")
            if not WRITES_JSON.search(file):
                for line, code in enumerate(text.splitlines(), 1):
                    if JSON.search(COMMENT.sub("", code)):
                        problems.append(f"{file}:{line}: {code.strip()}: JSON is written in engine/answers")
    return count, problems


# (file, line, allowed)
CASES = [
    ("engine/base/a.h", "#include <vector>", True),
    ("engine/base/a.h", '#include "engine/base/b.h"', True),
    ("engine/base/a.h", '#include "engine/model/b.h"', False),
    ("engine/base/a.h", "  #  include <unistd.h>", False),
    ("engine/base/a.h", "#include <sys/mman.h>", False),
    ("engine/alloc/a.h", '#include "engine/trace/b.h"', True),
    ("engine/trace/a.h", '#include "engine/alloc/b.h"', False),
    ("engine/model/a.h", "#include <cuda_runtime.h>", False),
    ("engine/session/a.cpp", "#include <emscripten/bind.h>", False),
    ("engine/io/readers/a.cpp", '#include "engine/model/b.h"', True),
    ("engine/io/readers/a.cpp", '#include "engine/replay/b.h"', False),
    ("engine/replay/a.cpp", '#include "engine/analysis/b.h"', False),
    ("engine/simulate/a.h", '#include "engine/model/b.h"', True),
    ("capture/driver/a.cpp", "#include <filesystem>", False),
    ("engine/cli/a.cpp", "#include <filesystem>", True),
    ("engine/simulate/a.cpp", '#include "engine/analysis/b.h"', False),
    ("engine/analysis/a.cpp", '#include "../session/b.h"', False),
    ("engine/answers/a.cpp", '#include "engine/analysis/b.h"', True),
    ("engine/analysis/a.cpp", '#include "engine/answers/b.h"', False),
    ("engine/answers/live/a.cpp", '#include "engine/analysis/steps/b.h"', True),
    ("engine/analysis/live/a.cpp", '#include "engine/answers/live/b.h"', False),
    ("engine/arrow/a.cpp", '#include "engine/analysis/b.h"', True),
    ("engine/arrow/a.cpp", '#include "engine/session/b.h"', False),
    ("engine/session/a.cpp", '#include "engine/arrow/b.h"', False),
    ("engine/answers/a.cpp", '#include "engine/session/b.h"', False),
    ("engine/analysis/a.cpp", '#include "peak.h"', False),
    ("engine/session/a.cpp", '#include "engine/cli/b.h"', False),
    ("engine/extras/a.cpp", '#include "engine/base/b.h"', False),
    ("engine/cli/main.cpp", "#include <unistd.h>", True),
    ("engine/cli/main.cpp", '#include "engine/session/b.h"', True),
    ("engine/cli/main.cpp", '#include "capture/recorder/b.h"', False),
    ("engine/cli/a.cpp", '#include "engine/serve/b.h"', True),
    ("engine/serve/a.cpp", "#include <sys/socket.h>", True),
    ("engine/serve/a.cpp", '#include "engine/session/b.h"', True),
    ("engine/serve/a.cpp", '#include "engine/cli/b.h"', False),
    ("engine/session/a.cpp", '#include "engine/serve/b.h"', False),
    ("wasm/bindings.cpp", "#include <emscripten/bind.h>", True),
    ("wasm/bindings.cpp", '#include "engine/session/b.h"', True),
    ("wasm/bindings.cpp", '#include "engine/replay/b.h"', False),
    ("wasm/bindings.cpp", '#include "capture/front/b.h"', False),
    ("capture/front/a.cpp", '#include "engine/io/writer.h"', True),
    ("capture/front/a.cpp", '#include "capture/python/native/a.h"', False),
    ("capture/python/native/a.cpp", '#include "engine/cli/a.h"', True),
    ("capture/python/native/a.cpp", '#include "engine/answers/a.h"', True),
    ("capture/python/native/a.cpp", '#include "capture/front/a.h"', False),
    ("capture/front/a.cpp", '#include "engine/session/b.h"', False),
    ("capture/front/a.cpp", '#include "wasm/b.h"', False),
]
JSON_CASES = [
    ("engine/answers/a.cpp", "void to_json(JsonWriter& json);", True),
    ("engine/io/writers/a.cpp", "json.begin_object();", True),
    ("engine/session/frame.cpp", "columns_.begin_object();", True),
    ("engine/session/a.cpp", "answers::to_json(asked.json(), *found);", True),
    ("engine/session/a.cpp", "asked.json().begin_object();", False),
    ("engine/analysis/a.h", "#include \"engine/base/json_writer.h\"", False),
    ("engine/analysis/a.h", "// begun with json.begin_object()", True),
    ("engine/cli/a.cpp", "  JsonWriter json;", False),
    ("wasm/a.h", "json->end_array();", False),
]


def self_test():
    failures = []
    for file, line, allowed in CASES + JSON_CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, file)
            path.parent.mkdir(parents=True)
            path.write_text(f"// comment\n{line}\n")
            count, problems = check(Path(folder))
            if count != (1 if "include" in line else 0) or bool(problems) == allowed:
                failures.append(f"{file}: {line}: read {count} includes, problems {problems}")
    print("\n".join(failures) or f"all {len(CASES + JSON_CASES)} planted lines judged as expected")
    return not failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    count, problems = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(problems) or f"{count} includes, none upward; JSON only where it belongs")
    return 1 if problems else 0


sys.exit(main())
