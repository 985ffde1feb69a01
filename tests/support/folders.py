"""Folders that are gone after the test, and full disks."""
import json
import pickle
import resource
import signal
import tempfile
import unittest
from pathlib import Path


class InAFolder(unittest.TestCase):
    """Each test has an empty folder of its own."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, content, name="input"):
        return write(self.folder / name, content)


class InOneFolder(unittest.TestCase):
    """All tests of a class share a folder: what is made for all of them lies there."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    @classmethod
    def file(cls, content, name="input"):
        return write(cls.folder / name, content)


def write(path, content):
    """Bytes and text as they are, anything else as a pickle where the name ends so, else as JSON. Returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode()
    elif not isinstance(content, bytes):
        content = pickle.dumps(content, protocol=4) if path.suffix == ".pickle" else json.dumps(content).encode()
    path.write_bytes(content)
    return path


def limited_to(size):
    """preexec_fn of a process whose files cannot grow beyond `size` bytes and that is told so by an error: a full disk."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit
