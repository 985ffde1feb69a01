"""Arrow without a library: a capsule for those who have one, plain lists for those who have not."""
from __future__ import annotations

import ctypes
import itertools
from typing import Any

from gpustrata._native import library

__all__ = ["capsule", "columns"]


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("private_data", ctypes.c_void_p),
]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("private_data", ctypes.c_void_p),
    ]


_NUMBERS = {
    b"c": ctypes.c_int8, b"s": ctypes.c_int16, b"i": ctypes.c_int32, b"I": ctypes.c_uint32, b"l": ctypes.c_int64,
    b"L": ctypes.c_uint64,
}
_new_capsule: Any = None


def _stream(table: int) -> int:
    stream = library().gpustrata_table_stream(table)
    if not stream:
        raise MemoryError("there is not enough memory for this table")
    return stream


def capsule(table: int) -> object:
    """A PyCapsule of a stream of the table's batches."""
    global _new_capsule
    if _new_capsule is None:
        library().gpustrata_stream_set_capsules(ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, ctypes.c_void_p))
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        _new_capsule = new(ctypes.cast(ctypes.pythonapi.PyCapsule_New, ctypes.c_void_p).value)
    stream = _stream(table)
    free = ctypes.cast(library().gpustrata_stream_free_capsule, ctypes.c_void_p)
    try:
        return _new_capsule(stream, library().gpustrata_stream_capsule_name(), free)
    except BaseException:
        library().gpustrata_stream_free(stream)
        raise


def columns(table: int, only_names: bool = False) -> tuple[list[str], list[list[Any]]]:
    """Names and values of all columns."""
    stream = _stream(table)
    schema = _Schema()
    try:
        said = _Stream.from_address(stream)
        if said.get_schema(stream, ctypes.addressof(schema)) != 0:
            raise MemoryError("there is not enough memory for this table")
        types = [schema.children[i].contents for i in range(schema.n_children)]
        names = [one.name.decode() for one in types]
        values: list[list[Any]] = [[] for _ in names]
        while not only_names:
            batch = _Array()
            if said.get_next(stream, ctypes.addressof(batch)) != 0:
                raise MemoryError("there is not enough memory for this table")
            if not batch.release:
                break
            try:
                for i, one in enumerate(types):
                    values[i] += _values(one, batch.children[i].contents)
            finally:
                batch.release(ctypes.addressof(batch))
        return names, values
    finally:
        if schema.release:
            schema.release(ctypes.addressof(schema))
        library().gpustrata_stream_free(stream)


def _numbers(kind: Any, address: int, count: int) -> list[Any]:
    return list((kind * count).from_address(address)) if count else []


def _validity(array: _Array) -> list[bool] | None:
    if array.null_count == 0 or not array.buffers[0]:
        return None
    length = array.length
    data = ctypes.string_at(array.buffers[0], (length + 7) // 8)
    return _bits(data, length)


def _bits(data: bytes, count: int) -> list[bool]:
    return list(itertools.islice((bool(byte >> bit & 1) for byte in data for bit in range(8)), count))


def _values(schema: _Schema, array: _Array) -> list[Any]:
    # The library gives no offsets: a slice is an address of its own.
    count, form = array.length, schema.format
    if form in _NUMBERS:
        values = _numbers(_NUMBERS[form], array.buffers[1], count)
        if schema.dictionary:
            meanings = _values(schema.dictionary.contents, array.dictionary.contents)
            valid = _validity(array)
            if valid is not None:
                return [meanings[value] if good else None for value, good in zip(values, valid)]
            return [meanings[value] for value in values]
    elif form == b"b":
        values = _bits(ctypes.string_at(array.buffers[1], (count + 7) // 8), count)
    elif form == b"u":
        ends = _numbers(ctypes.c_int32, array.buffers[1], count + 1)
        data = ctypes.string_at(array.buffers[2], ends[-1])
        values = [data[begin:end].decode() for begin, end in zip(ends, ends[1:])]
    elif form == b"+l":
        ends = _numbers(ctypes.c_int32, array.buffers[1], count + 1)
        items = _values(schema.children[0].contents, array.children[0].contents)
        values = [items[begin:end] for begin, end in zip(ends, ends[1:])]
    elif form == b"+s":
        names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
        fields = [_values(schema.children[i].contents, array.children[i].contents) for i in range(schema.n_children)]
        values = [dict(zip(names, row)) for row in zip(*fields)]
    else:
        raise TypeError(f"no column of this package has the Arrow type {form!r}")
    valid = _validity(array)
    return values if valid is None else [value if good else None for value, good in zip(values, valid)]
