#!/usr/bin/env python3
"""What `gpustrata run --driver` records of a PyTorch program on a device, against what PyTorch and the driver say themselves.

  driver_case.py        needs PyTorch, a device and a build (GPUSTRATA_BUILD, else build/native-checked); 77: one is missing

PyTorch's reserved memory must be what its library has from the driver; what the device says is in use must have grown by what the
journal shows, give or take what modules take (256 MiB); a pinned tensor must be a row of the host.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GPUSTRATA_BUILD") or ROOT / "build" / "native-checked").resolve()
MIB = 1 << 20
MODULES = 256 * MIB
PROGRAM = """
import json, torch
torch.empty(1, device="cuda")
free, total = torch.cuda.mem_get_info()
before = torch.cuda.memory_reserved()
held = [torch.empty(int(size) << 20, dtype=torch.uint8, device="cuda") for size in (3, 64, 200, 1000)]
pinned = torch.empty(8 << 20, dtype=torch.uint8).pin_memory()
with torch.cuda.nvtx.range("freed"):
    del held[1]
    torch.cuda.empty_cache()
print(json.dumps({"reserved": torch.cuda.memory_reserved(), "grown": free - torch.cuda.mem_get_info()[0],
                  "before": before, "pinned": pinned.data_ptr()}))
"""


def main():
    if subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True).returncode:
        print("driver_case.py: no PyTorch that finds a device", file=sys.stderr)
        return 77
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "capture" / "python"),
                   "GPUSTRATA_CAPTURE": str(BUILD / "lib" / "libgpustrata_capture.so"),
                   "GPUSTRATA_FILE": str(BUILD / "lib" / "libgpustrata_file.so")}
    os.environ.update(environment)
    sys.path.insert(0, environment["PYTHONPATH"])
    import gpustrata

    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        done = subprocess.run([sys.executable, "-m", "gpustrata", "run", "--driver", "-o", "run.gpustrata", program], cwd=folder,
                              env=environment, capture_output=True, text=True)
        print(done.stderr, end="", file=sys.stderr)
        told = json.loads(done.stdout.splitlines()[-1])
        with gpustrata.open(Path(folder) / "run-driver.gpustrata") as file:
            blocks = file.blocks(0).to_pydict()
            own = sum(size for size, owner in zip(blocks["size"], blocks["user_metadata"]) if "c10_cuda" in (owner or ""))
            everything = sum(blocks["size"])
            try:
                host = file.segments("host").to_pydict()["address"]
            except ValueError:
                host = []
    rows = {
        "PyTorch's reserved memory": (own, told["reserved"], own == told["reserved"]),
        "growth of what the device has in use": (everything - told["before"], told["grown"],
                                                 0 <= told["grown"] - (everything - told["before"]) <= MODULES),
        "the pinned tensor is the host's": (len(host), 1, told["pinned"] in host),
    }
    for name, (found, wanted, is_right) in rows.items():
        print(f"{'ok' if is_right else 'FAILED':8}{name}: {found:,}, said {wanted:,}")
    return 0 if all(is_right for *_, is_right in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
