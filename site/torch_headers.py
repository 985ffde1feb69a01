"""Fetches what observers are compiled against before a release: the headers of each PyTorch that is tried, and CUDA's.

    python3 site/torch_headers.py FOLDER [VERSION...]

FOLDER/VERSION/torch/{include/,version.py} and FOLDER/cuda/include/ of what pip finds for this machine. Of a package of 800 MB
only the part with its headers is asked for (8 MB, by HTTP ranges). What is there already stays.
"""
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from urllib.request import Request, urlopen

# Those whose allocator tells the pool of each event: from 2.8 on.
VERSIONS = ("2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0")
CUDA = ("nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-nvcc-cu12==12.9.86")  # of the second: crt/
_TAIL = 4 << 20         # bytes at the end of a package that hold its table of files
_LOCAL_HEADER = 1 << 16  # at most, before a file's bytes


def _url(requirement):
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "--only-binary=:all:", "--quiet",
               "--report", "-", requirement]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["install"][0]["download_info"]["url"]


def _part(url, first, last):
    with urlopen(Request(url, headers={"Range": f"bytes={first}-{last}"})) as reply:
        if reply.status != 206:
            raise RuntimeError(f"{url} cannot be had in parts")
        return reply.read()


def fetch(requirement, is_wanted, folder):
    """Extracts the files whose names are wanted, which should lie near each other in the package."""
    url = _url(requirement)
    with urlopen(Request(url, method="HEAD")) as reply:
        size = int(reply.headers["Content-Length"])
    with tempfile.TemporaryFile() as package:  # of the package's size, with holes
        def take(first, last):
            package.seek(first)
            package.write(_part(url, first, last))

        take(max(0, size - _TAIL), size - 1)
        with zipfile.ZipFile(package) as table:
            wanted = sorted((one for one in table.infolist() if is_wanted(one.filename)), key=lambda one: one.header_offset)
        runs = []  # [first, last] of neighbours
        for one in wanted:
            last = min(size - 1, one.header_offset + one.compress_size + _LOCAL_HEADER)
            if runs and one.header_offset <= runs[-1][1] + _TAIL:
                runs[-1][1] = max(runs[-1][1], last)
            else:
                runs.append([one.header_offset, last])
        for run in runs:
            take(*run)
        with zipfile.ZipFile(package) as files:
            files.extractall(folder, wanted)


def main(folder, versions):
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / "part"

    def make(name, what):
        if (folder / name).exists():
            return
        shutil.rmtree(part, ignore_errors=True)
        what()
        part.rename(folder / name)
        print(f"headers of {name}", flush=True)

    def cuda():
        for requirement in CUDA:
            fetch(requirement, lambda name: "/include/" in name, part / "packages")
        for include in part.glob("packages/nvidia/*/include"):
            shutil.copytree(include, part / "include", dirs_exist_ok=True)
        shutil.rmtree(part / "packages")

    make("cuda", cuda)
    for version in versions:
        make(version, lambda: fetch(f"torch=={version}", lambda name: name == "torch/version.py" or name.startswith("torch/include/"), part))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:] or VERSIONS)
