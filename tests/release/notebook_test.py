"""f.show() in a real JupyterLab with Chromium: the page inside the notebook, and a large one in a file beside it; the README's
way from recording to the largest stack, in a notebook.

With jupyterlab, pandas, pyarrow and gpustrata importable and tests/node_modules installed; GPUSTRATA_PAGE: gpustrata.html,
GPUSTRATA_CHROMIUM: Chromium. wheel_test.py calls it.

Without a network: every request to another address than the server's fails the test.
"""
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from support.paths import ROOT, SAMPLE, TESTS

VIEWER, CHROMIUM = (str(Path(os.environ[one]).resolve()) for one in ("GPUSTRATA_PAGE", "GPUSTRATA_CHROMIUM"))


def notebook(*lines):
    return json.dumps({
        "nbformat": 4, "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [{"cell_type": "code", "id": "one", "metadata": {}, "execution_count": None, "outputs": [],
                   "source": "\n".join(lines)}]})


def example(name):
    """The lines of the block of the package's README whose first line is a comment with that name."""
    text = (ROOT / "capture" / "python" / "README.md").read_text()
    return re.search(rf"```python\n(# {re.escape(name)}\n.*?)```", text, re.DOTALL)[1].splitlines()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Notebook(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpustrata-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        shutil.copy(SAMPLE, self.folder)
        port, token = free_port(), secrets.token_hex(8)
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1",
             f"--IdentityProvider.token={token}", "--LabApp.news_url=", "--ServerApp.root_dir=" + self.folder],
            env=dict(os.environ, JUPYTER_CONFIG_DIR=self.folder + "/.config", HOME=self.folder),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.server.wait, 30)
        self.addCleanup(self.server.terminate)
        self.address = f"http://127.0.0.1:{port}/lab/tree/{{}}?token={token}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status?token={token}", timeout=5).read()
                return
            except OSError:
                time.sleep(0.2)
        self.fail("JupyterLab did not start")

    def peak(self, *lines):
        """What the viewer in the first cell's output says of the peak, after running it."""
        Path(self.folder, "test.ipynb").write_text(notebook(*lines))
        done = subprocess.run(["node", TESTS / "release" / "run_notebook.mjs", self.address.format("test.ipynb"), CHROMIUM],
                              capture_output=True, text=True, timeout=400)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_in_the_notebook_itself(self):
        told = self.peak("import gpustrata", f"gpustrata.open('training_run.pickle').show(viewer={VIEWER!r})")
        self.assertRegex(told, "2[.]62 GiB")

    def test_in_a_file_beside_it(self):
        name = "run 1#2%3.pickle"
        Path(self.folder, "training_run.pickle").rename(Path(self.folder, name))
        told = self.peak("import gpustrata, gpustrata._notebook", "gpustrata._notebook._MOST_IN_NOTEBOOK = 1000",
                         f"gpustrata.open({name!r}).show(viewer={VIEWER!r})")
        self.assertRegex(told, "2[.]62 GiB")
        self.assertEqual(os.listdir(Path(self.folder, "gpustrata-views")), [name + ".html"])

    def test_the_user_s_way(self):
        """What the README says, in one cell: record on a simulated device, open, the largest stack in pandas, look."""
        told = self.peak(*example("record.py"), *example("read.py"), f"f.show(viewer={VIEWER!r})")
        # Four layers of 64 MiB, and four activations of 8 MiB in a step.
        self.assertRegex(told, r"^Peak 288(\.0+)? MiB\n")
        self.assertRegex(told, r"\.py:\d+ weights\s+268435456\s*$")
