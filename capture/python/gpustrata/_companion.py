"""Compiles companion.cpp against the PyTorch that is here, once, and makes it PyTorch's allocator.

It needs a C++ compiler, ninja and CUDA's headers: those of a toolkit (CUDA_HOME), or those of PyTorch's own packages
(nvidia-cuda-runtime; with CUDA 13 nvidia-cuda-crt, too). The result is kept in TORCH_EXTENSIONS_DIR or where PyTorch keeps
its extensions; its name tells versions apart.
"""
import ctypes
import hashlib
import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_SOURCE = _HERE / "companion.cpp"
# The library's header: beside this file in a wheel, in capture/ of a source tree.
_HEADERS = _HERE if (_HERE / "gpustrata.h").exists() else _HERE.parents[1]


def _cuda_folders(torch):
    """(folders with headers, the runtime library) of CUDA as PyTorch has it."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    places = [Path(home)] if home else []
    places += sorted(Path(torch.__file__).resolve().parents[1].glob("nvidia/*"))
    places.append(Path("/usr/local/cuda"))
    headers = []
    for name in ("cuda_runtime_api.h", "crt/host_defines.h"):
        found = next((place / "include" for place in places if (place / "include" / name).exists()), None)
        if found is None:
            raise RuntimeError(f"CUDA's {name} is nowhere: install a toolkit and name it in CUDA_HOME, or the package "
                               + ("nvidia-cuda-runtime" if name[0] == "c" and "/" not in name else
                                  "nvidia-cuda-crt (of CUDA 12: nvidia-cuda-nvcc-cu12)"))
        if str(found) not in headers:
            headers.append(str(found))
    return headers


def build(torch, verbose=False):
    """The path of the compiled class."""
    from torch.utils import cpp_extension

    text = _SOURCE.read_bytes() + (_HEADERS / "gpustrata.h").read_bytes()
    name = "gpustrata_companion_" + hashlib.sha256(text + torch.__version__.encode()).hexdigest()[:12]
    folder = Path(cpp_extension._get_build_directory(name, verbose=False))
    done = folder / f"{name}.so"
    if done.exists():
        return str(done)
    libraries = Path(torch.__file__).resolve().parent / "lib"
    cpp_extension.load(
        name=name, sources=[str(_SOURCE)], extra_include_paths=[*_cuda_folders(torch), str(_HEADERS)],
        extra_cflags=["-O2", "-Wno-overloaded-virtual", "-Wno-suggest-override"],
        extra_ldflags=[f"-L{libraries}", "-lc10_cuda", "-ltorch_cuda"],
        is_python_module=False, with_cuda=False, verbose=verbose)
    return str(done)


def install(torch, library_path):
    """Raises RuntimeError in words."""
    try:
        path = build(torch)
    except Exception as error:  # compilers fail in many ways
        lines = str(error).strip().splitlines()
        raise RuntimeError(f"the companion could not be compiled: {lines[0] if lines else error!r}") from error
    # PyTorch's libraries are loaded: what the class needs of them is found there.
    for name in ("libc10_cuda.so", "libtorch_cuda.so"):
        ctypes.CDLL(str(Path(torch.__file__).resolve().parent / "lib" / name), mode=ctypes.RTLD_GLOBAL)
    companion = ctypes.CDLL(path, mode=getattr(os, "RTLD_NOW", 2))
    companion.gpustrata_companion_install.restype = ctypes.c_char_p
    companion.gpustrata_companion_install.argtypes = [ctypes.c_char_p]
    problem = companion.gpustrata_companion_install(os.fsencode(library_path))
    if problem:
        raise RuntimeError(problem.decode(errors="replace"))
    sys.modules[__name__]._kept = companion
