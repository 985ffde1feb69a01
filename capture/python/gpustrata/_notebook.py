"""The viewer in a notebook: a page of its own in a frame, without a server and without a network."""
from __future__ import annotations

import contextlib
import html
import os
import shutil
import tempfile
import urllib.parse
from typing import Any

from gpustrata import _native

__all__ = ["View", "show", "write_page"]

_MOST_IN_NOTEBOOK = 24 << 20  # bytes of a page that goes into the notebook itself
_FOLDER = "gpustrata-views"


def _viewer(viewer: Any) -> list[str]:
    if viewer is None:
        here = os.path.join(_native.folder, "gpustrata.html")
        built = os.path.join(_native.folder, "..", "..", "..", "build", "site", "gpustrata.html")
        viewer = next((path for path in (here, built) if os.path.exists(path)), None)
    if viewer is None:
        raise FileNotFoundError(
            "this installation has no viewer: build gpustrata.html (`cmake --preset wasm && cmake --build --preset "
            "wasm`, it is in build/site) and give its path as viewer=")
    return [f"--viewer={os.fspath(viewer)}"]


def write_page(source: str, path: Any, viewer: Any = None) -> None:
    """One page with the viewer and the file."""
    _native.ask([], ["html", source, f"--output={os.fspath(path)}", "--json", *_viewer(viewer)])


class View:
    """What a notebook shows for a file."""

    def __init__(self, frame: str, text: str) -> None:
        self._frame, self._text = frame, text

    def _repr_html_(self) -> str:
        return self._frame

    def __repr__(self) -> str:
        return self._text


def _put(page: str, kept: str) -> None:
    """Moves a page; nobody sees half of it."""
    beside = f"{kept}.{os.getpid()}.tmp"
    try:
        shutil.move(page, beside)
        os.replace(beside, kept)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def show(path: str, height: int, viewer: Any) -> View:
    """A small page goes into the notebook; a larger one into a file of the folder gpustrata-views beside it."""
    source = "./" + path if path.startswith("-") else path
    name = os.path.basename(path)
    style = f'width="100%" height="{int(height)}" style="border:1px solid #8888" title="gpustrata: {html.escape(name)}"'
    with tempfile.TemporaryDirectory(prefix="gpustrata-") as folder:
        page = os.path.join(folder, "page.html")
        write_page(source, page, viewer)
        if os.path.getsize(page) <= _MOST_IN_NOTEBOOK:
            with open(page, encoding="utf-8") as file:
                frame = f'<iframe srcdoc="{html.escape(file.read())}" {style}></iframe>'
            return View(frame, f"<gpustrata viewer of {path}>")
        os.makedirs(_FOLDER, exist_ok=True)
        kept = os.path.join(_FOLDER, name + ".html")
        _put(page, kept)
    address = html.escape(urllib.parse.quote(os.fsencode(kept)))
    return View(f'<iframe src="{address}" {style}></iframe>', f"<gpustrata viewer of {path} in {kept}>")
