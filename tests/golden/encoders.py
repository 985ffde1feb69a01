"""Snapshots as bytes: the encodings that writers of snapshots use, and what people put them in."""
import base64
import gzip
import io
import json
import pickle
import struct
import zipfile

LISTS_AND_DICTS = (list, dict)


class CppPickler:
    """The manner of PyTorch's C++ pickler: protocol 2, no batches, signed 64-bit integers in 8 bytes, strings
    memoised by content, containers memoised after they are complete and only if used more than once."""

    def __init__(self):
        self.out = bytearray(b"\x80\x02")
        self.slots = 0
        self.strings = {}
        self.containers = {}
        self.uses = {}

    @classmethod
    def dumps(cls, value):
        pickler = cls()
        pickler.count_uses(value)
        pickler.write(value)
        return bytes(pickler.out) + b"."

    def count_uses(self, value):
        if isinstance(value, LISTS_AND_DICTS):
            self.uses[id(value)] = self.uses.get(id(value), 0) + 1
            if self.uses[id(value)] > 1:
                return
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            self.count_uses(part)

    def put(self):
        slot, self.slots = self.slots, self.slots + 1
        self.out += b"q" + bytes([slot]) if slot < 256 else b"r" + struct.pack("<I", slot)
        return slot

    def get(self, slot):
        self.out += b"h" + bytes([slot]) if slot < 256 else b"j" + struct.pack("<I", slot)

    def write_int(self, value):
        value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
        if 0 <= value < 1 << 8:
            self.out += b"K" + bytes([value])
        elif 0 <= value < 1 << 16:
            self.out += b"M" + struct.pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            self.out += b"\x8a\x08" + struct.pack("<q", value)

    def write_text(self, text):
        if text in self.strings:
            return self.get(self.strings[text])
        raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")  # bytes: not checked, as in C++
        self.out += b"X" + struct.pack("<I", len(raw)) + raw
        self.strings[text] = self.put()

    def write(self, value):
        if value is None:
            self.out += b"N"
        elif isinstance(value, bool):
            self.out += b"\x88" if value else b"\x89"
        elif isinstance(value, int):
            self.write_int(value)
        elif isinstance(value, float):
            self.out += b"G" + struct.pack(">d", value)
        elif isinstance(value, (str, bytes)):
            self.write_text(value)
        elif isinstance(value, tuple):
            for part in value:
                self.write(part)
            self.out += {0: b")", 1: b"\x85", 2: b"\x86", 3: b"\x87"}[len(value)]
        elif id(value) in self.containers:
            self.get(self.containers[id(value)])
        else:
            if isinstance(value, dict):
                self.out += b"}("
                for key, part in value.items():
                    self.write(key)
                    self.write(part)
                self.out += b"u"
            else:
                self.out += b"]("
                for part in value:
                    self.write(part)
                self.out += b"e"
            if self.uses[id(value)] > 1:
                self.containers[id(value)] = self.put()


class UnmemoisedPickler(pickle._Pickler):
    """Python's own pickler with fast=True: no memo, everything in full."""

    @classmethod
    def dumps(cls, value, protocol):
        file = io.BytesIO()
        pickler = cls(file, protocol)
        pickler.fast = True
        pickler.dump(value)
        return file.getvalue()


ENCODINGS = {
    **{f"protocol{n}": (lambda value, n=n: pickle.dumps(value, protocol=n)) for n in range(6)},
    "cpp": CppPickler.dumps,
    "unmemoised": lambda value: UnmemoisedPickler.dumps(value, 4),
}


def json_text(value):
    return json.dumps(value).encode()


def zipped(value):
    """Deflated, and once more streamed: sizes behind the data."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.pickle", pickle.dumps(value, protocol=4))
        with archive.open("b/c.pickle", "w", force_zip64=True) as file:
            file.write(pickle.dumps(value, protocol=2))
    return out.getvalue()


def web_page(value):
    text = base64.b64encode(pickle.dumps(value, protocol=4)).decode()
    return f'<html><script>files = [{{"name": "page.pickle", "base64": "{text}"}}]</script></html>'.encode()


def in_containers(value):
    """(name, what the command calls the format, bytes, the value that is found in them) of all that take this value."""
    try:
        text = json_text(value)
    except (TypeError, ValueError):  # JSON has no bytes, no tuples as keys
        text = None
    if text is not None:
        found = json.loads(text)
        yield "json", "json", text, found
        yield "json.gz", "json in gzip", gzip.compress(text, 1), found
    yield "gz", "pickle in gzip", gzip.compress(pickle.dumps(value, protocol=4), 1), value
    yield "zip", "pickle in zip", zipped(value), {"a.pickle": value, "b/c.pickle": value}
    yield "html", "pickle in html", web_page(value), {"page.pickle": value}
