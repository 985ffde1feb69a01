"""A stack as the format document says that the viewer shows it: without the interpreter, equal lines counted."""
HIDDEN_NAMES = ("unwind::unwind", "CapturedTraceback::gather", "gather_with_cpp", "_start", "__libc_start_main", "PyEval_",
                "PyObject_", "PyFunction_")
HIDDEN_FILES = ("core/boxing", "/Register", "/Redispatch", "pythonrun.c", "Modules/main.c", "Objects/call.c",
                "Objects/methodobject.c", "pycore_ceval.h", "ceval.c", "cpython/abstract.h")


def is_hidden(one):
    return any(h in one["name"] for h in HIDDEN_NAMES) or any(h in one["filename"] for h in HIDDEN_FILES)


def lines_of(frames):
    """As the format document says the viewer shows a stack."""
    shown = [f for f in frames if not is_hidden(f)] or frames
    lines = [f'{f["filename"]}:{0 if f["line"] in (-1, 2**64 - 1, 2**32 - 1) else f["line"]}:{f["name"]}' for f in shown]
    out = []
    while lines:
        count = next((i for i, line in enumerate(lines) if line != lines[0]), len(lines))
        out += [f"{lines[0]} (repeats {count} times)"] if count >= 3 else lines[:count]
        lines = lines[count:]
    return tuple(out)
