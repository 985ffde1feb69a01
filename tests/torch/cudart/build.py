#!/usr/bin/env python3
"""Builds the made-up CUDA runtime for one environment with PyTorch: libcudart.so.N as its libraries want it.

  build.py SITE_PACKAGES FAKE_CUDA OUT     prints the library's path; beside it libnvidia-ml.so.1, which knows no device

SITE_PACKAGES holds torch/ and nvidia/ (with CUDA's headers), FAKE_CUDA the fake driver libcuda.so.1. Every symbol of
the runtime that some library there wants and made_up_cudart.cpp does not have becomes a function that says so and fails.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def wanted_symbols(site):
    """{"libcudart.so.13": names}: what the libraries want of CUDA's runtime."""
    found = {}
    for library in [*site.glob("torch/lib/*.so*"), *site.glob("nvidia/**/lib/*.so*")]:
        told = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True).stdout
        for name, version in re.findall(r"(\w+)@(libcudart\.so\.\d+)", told):
            found.setdefault(version, set()).add(name)
    return found


def include_folders(site):
    """Those of CUDA's runtime and of its compiler's part, which is a package of its own."""
    folders = []
    for name, package in (("cuda_runtime_api.h", "nvidia-cuda-runtime"),
                          ("crt/host_defines.h", "nvidia-cuda-crt, of CUDA 12 nvidia-cuda-nvcc-cu12")):
        found = next((header for header in site.glob(f"nvidia/*/include/{name}")), None)
        if found is None:
            sys.exit(f"{name} is not in {site}: pip install {package}")
        folders += ["-isystem", str(site / "nvidia" / found.relative_to(site / "nvidia").parts[0] / "include")]
    return folders


def main(site, fake_cuda, out):
    site, fake_cuda, out = Path(site), Path(fake_cuda).resolve(), Path(out)
    found = wanted_symbols(site)
    if len(found) != 1:
        sys.exit(f"wanted are {sorted(found) or 'no runtimes'}, not one")
    (soname, names), = found.items()
    out.mkdir(parents=True, exist_ok=True)
    made = out / "made_up_cudart.o"
    options = ["-std=c++20", "-O2", "-fPIC", "-g0", "-w", f"-I{ROOT}", *include_folders(site)]
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, *options, "-c", HERE / "made_up_cudart.cpp", "-o", made], check=True)
    here = set(re.findall(r" T (\w+)$", subprocess.run(["nm", made], capture_output=True, text=True, check=True).stdout,
                          re.M))
    stubs = out / "stubs.cpp"
    stubs.write_text('extern "C" {\nint made_up_missing(const char* name);\n' + "".join(
        f'int {name}() {{ return made_up_missing("{name}"); }}\n' for name in sorted(names - here)) + "}\n")
    versions = out / "versions.map"
    versions.write_text(f"{soname} {{ global: cuda*; __cuda*; local: *; }};\n")
    library = out / soname
    subprocess.run([compiler, *options, "-shared", made, stubs, "-o", library, f"-Wl,-soname,{soname}",
                    f"-Wl,--version-script,{versions}", str(fake_cuda / "libcuda.so.1"), f"-Wl,-rpath,{fake_cuda}",
                    "-ldl"], check=True)
    management = out / "libnvidia-ml.so.1"
    subprocess.run([compiler, *options, "-shared", HERE / "made_up_nvml.cpp", "-o", management,
                    "-Wl,-soname,libnvidia-ml.so.1"], check=True)
    print(library)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
