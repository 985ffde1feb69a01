"""The `gpustrata` of the wheel, which takes the command from the package's library: wherever an installer puts the two, and as a process.

Environment: GPUSTRATA_LAUNCHER, that command; GPUSTRATA_FILE, the library; GPUSTRATA_TOOL, the command that holds everything.
"""
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.paths import ROOT, SAMPLE, case
from support.tool import ENVIRONMENT, TOOL
from support.viewer import VIEWER

LAUNCHER, LIBRARY = Path(os.environ["GPUSTRATA_LAUNCHER"]), Path(os.environ["GPUSTRATA_FILE"])
SMALL = case("protocol4")
# Where installers put commands and packages.
LAYOUTS = {
    "environment": ("bin", "lib/python3.13/site-packages"),
    "another folder of libraries": ("bin", "lib64/python3.9/site-packages"),
    "a Python without a lock": ("bin", "lib/python3.14t/site-packages"),
    "the system's pip of Debian": ("bin", "lib/python3.11/dist-packages"),
    "the system's packages of Debian": ("bin", "lib/python3/dist-packages"),
    "--target": ("bin", "."),
}


def install(folder, layout="environment"):
    """The command there."""
    commands, packages = (folder / part for part in LAYOUTS[layout])
    (packages / "gpustrata").mkdir(parents=True)
    (packages / "gpustrata" / LIBRARY.name).symlink_to(LIBRARY)
    commands.mkdir(exist_ok=True)
    return Path(shutil.copy(LAUNCHER, commands / "gpustrata"))


def run(command, *arguments, **options):
    return subprocess.run([str(command), *map(str, arguments)], **{
        "capture_output": True, "text": True, "timeout": 120, "env": ENVIRONMENT, **options})


@pytest.fixture
def command(tmp_path):
    return install(tmp_path / "prefix")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_python_finds_the_command_of_the_installation(layout, tmp_path):
    command, packages = install(tmp_path / "prefix", layout), tmp_path / "prefix" / LAYOUTS[layout][1]
    for path in (ROOT / "capture" / "python" / "gpustrata").iterdir():
        (packages / "gpustrata" / path.name).symlink_to(path)
    command.write_text("#!/bin/sh\necho this one\n")
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "GPUSTRATA_TOOL"}
    done = run(sys.executable, "-m", "gpustrata", "--version", env={**environment, "PYTHONPATH": str(packages)}, cwd="/")
    assert (done.returncode, done.stdout, done.stderr) == (0, "this one\n", "")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_finds_the_package_of_its_installation(layout, tmp_path):
    done = run(install(tmp_path / "a prefix [1]", layout), "summary", "--json", SMALL, cwd="/")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(TOOL, "summary", "--json", SMALL).stdout


def test_through_links_and_the_path(tmp_path, command):
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "gpustrata").symlink_to(command)
    (tmp_path / "again").symlink_to("local/gpustrata")
    for name, options in ((tmp_path / "again", {}), ("./again", {"cwd": tmp_path}),
                          ("gpustrata", {"env": {**ENVIRONMENT, "PATH": str(tmp_path / "local")}})):
        assert run(name, "--version", **options).stdout == run(TOOL, "--version").stdout


def library_that_says(version, folder):
    """A library of the package, of another version."""
    source = folder / "other.c"
    source.write_text(f'const char* gpustrata_file_version(void) {{ return "{version}"; }}\n'
                      'int gpustrata_command(int argc, char** argv) { return 77; }\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / LIBRARY.name, source], check=True)


def test_of_several_pythons_it_takes_the_package_of_its_version(tmp_path, command):
    other = tmp_path / "prefix" / "lib" / "python3.10" / "site-packages" / "gpustrata"
    other.mkdir(parents=True)
    library_that_says("0.0.9", other)
    assert run(command, "--version").stdout == run(TOOL, "--version").stdout
    library_that_says(run(TOOL, "--version").stdout.split()[-1], other)  # found before python3.13
    assert run(command, "--version").returncode == 77


def test_without_the_package_it_says_so(tmp_path):
    alone = Path(shutil.copy(LAUNCHER, tmp_path / "gpustrata"))
    done = run(alone, "--version")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gpustrata: the Python package gpustrata ") and done.stderr.count("\n") == 1
    (tmp_path / "lib" / "python3.12" / "site-packages" / "gpustrata").mkdir(parents=True)
    (tmp_path / "lib" / "python3.12" / "site-packages" / "gpustrata" / LIBRARY.name).write_text("no library")
    (tmp_path / "bin").mkdir()
    done = run(alone.rename(tmp_path / "bin" / "gpustrata"), "--version")
    assert done.returncode == 1 and LIBRARY.name in done.stderr and "install it again" in done.stderr


def test_it_answers_as_the_command(tmp_path, command):
    """Exit codes, standard input, output and error."""
    (tmp_path / "none").write_text("nothing\n")
    for words, options in ((["--help"], {}), ([], {}), (["no such command"], {}), (["summary", "no such file"], {}), (["summary", tmp_path / "none"], {}),
                           (["report", SAMPLE], {}), (["check", SAMPLE, "--max-peak", "1MiB"], {}), (["check", SMALL, "--no-leak"], {}),
                           (["summary", "--json", "-"], {"stdin": True}), (["top", "--at", "peak", "-"], {"stdin": True}),
                           (["convert", SMALL, "--to", "json", "-o", "-"], {})):
        said = []
        for program in (TOOL, command):
            with open(SAMPLE, "rb") as file:
                done = run(program, *words, stdin=file if options else subprocess.DEVNULL)
                said.append((done.returncode, done.stdout, done.stderr))
        assert said[0] == said[1], words


def ways(command):
    """The command itself, and `python -m gpustrata`, which becomes it."""
    return {"command": [str(command)], "python -m": [sys.executable, "-m", "gpustrata"]}


@pytest.mark.parametrize("way", ["command", "python -m"])
def test_a_reader_that_goes_away_ends_it_at_once(way, command):
    process = subprocess.Popen([*ways(command)[way], "convert", SAMPLE, "--to", "json", "-o", "-"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**ENVIRONMENT, "GPUSTRATA_TOOL": str(command)})
    process.stdout.read(10)
    process.stdout.close()
    assert (process.stderr.read(), process.wait(timeout=60)) == (b"", -signal.SIGPIPE)
    process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", ["command", "python -m"])
def test_signals_end_it_at_once(way, number, command, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen([*ways(command)[way], "summary", pipe], stderr=subprocess.PIPE, env={**ENVIRONMENT, "GPUSTRATA_TOOL": str(command)},
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # a shell's job in the background ignores it
    writer = os.open(pipe, os.O_WRONLY)  # from here on it reads
    os.write(writer, SMALL.read_bytes()[:100])
    time.sleep(0.1)
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(timeout=60) == -number
    assert time.monotonic() - began < 5
    assert process.stderr.read() == b""
    process.stderr.close()
    os.close(writer)


def test_it_has_the_viewer_of_the_package(command, tmp_path):
    out = tmp_path / "page.html"
    assert run(command, "html", SMALL, "-o", out).returncode != 0
    (next((tmp_path / "prefix").rglob(LIBRARY.name)).parent / "gpustrata.html").write_bytes(VIEWER)
    assert run(command, "html", SMALL, "-o", out).returncode == 0
    assert b"<p>viewer</p>" in out.read_bytes()
