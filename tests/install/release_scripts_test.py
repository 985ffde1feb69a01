"""What makes a release, without making one: the list of what is inside (site/sbom.mjs), the container's file, the script's usage.
What it makes is used in release_test.py."""
import fnmatch
import json
import re
import shutil
import subprocess

import pytest
from support.paths import ROOT

SITE = ROOT / "site"
SOURCES = (ROOT / "engine" / "libraries" / "CMakeLists.txt").read_text()
LOCK = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]


def sbom(root=ROOT):
    done = subprocess.run(["node", root / "site" / "sbom.mjs", "1.2.3", "1700000000"], capture_output=True, text=True)
    return done, json.loads(done.stdout) if done.returncode == 0 else None


@pytest.fixture(scope="module")
def packages():
    done, document = sbom()
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in document["packages"]}


def source_of(package):
    (reference,) = package["externalRefs"]
    return reference["referenceLocator"]


def test_every_fetched_source_is_in_the_list_with_its_pinned_version(packages):
    pinned = re.findall(r"^(npm|pip)_sources\(\w+ (\S+) (\S+)", SOURCES, re.MULTILINE)
    assert len(pinned) == SOURCES.count("_sources(") - 2  # the comments above the functions
    sources = {source_of(one) for one in packages.values() if "externalRefs" in one}
    for registry, name, version in pinned:
        registry = {"npm": "npm", "pip": "pypi"}[registry]
        assert f"pkg:{registry}/{name.replace('@', '%40')}@{version}" in sources


# Versions as the libraries' own headers say them in the pinned archives.
@pytest.mark.parametrize("name, version", [("zlib", "1.3.1"), ("Zstandard", "1.5.7"), ("simdjson", "3.9.4"), ("nanoarrow", "0.9.0"),
                                           ("flatcc", "0.6.2"), ("SQLite", "3.54.1")])
def test_a_library_has_the_version_of_the_library_not_of_what_carries_it(name, version, packages):
    assert packages[name]["versionInfo"] == version


def test_what_the_page_bundles_is_in_the_list_with_the_version_of_the_lock(packages):
    bundled = {path.removeprefix("node_modules/"): one for path, one in LOCK.items()
               if path and not one.get("dev") and "@types/" not in path}
    assert "lit" in bundled
    for name, one in bundled.items():
        assert (packages[name]["versionInfo"], packages[name]["licenseDeclared"]) == (one["version"], one["license"])


@pytest.mark.parametrize("name, package", [("{fmt}", "libfmt-dev"), ("CLI11", "libcli11-dev"), ("tl::expected", "libexpected-dev"), ("Emscripten", "emscripten")])
def test_what_debian_brings_has_the_version_that_is_installed(name, package, packages):
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=True).stdout
    assert installed.startswith(packages[name]["versionInfo"])
    assert re.fullmatch(r"\d+(\.\d+)+", packages[name]["versionInfo"])


def test_the_document_names_each_once_and_itself(packages):
    _, document = sbom()
    ids = [one["SPDXID"] for one in document["packages"]]
    assert len(set(ids)) == len(ids) == len(packages)
    assert packages["gpustrata"]["versionInfo"] == "1.2.3"
    contained = [one["relatedSpdxElement"] for one in document["relationships"] if one["relationshipType"] == "CONTAINS"]
    assert sorted(contained) == sorted(set(ids) - {"SPDXRef-gpustrata"})
    assert document["creationInfo"]["created"] == "2023-11-14T22:13:20Z"  # 1,700,000,000 s


@pytest.mark.parametrize("path, line, named", [
    ("engine/libraries/CMakeLists.txt", "\nnpm_sources(new new-library 1.0.0\n  00\n  \"package/*\")\n", "new-library"),
    ("engine/libraries/CMakeLists.txt", "\npip_sources(new other-library 1.0.0\n  00\n  back \"*\")\n", "other-library"),
    ("site/setup.sh", "\nneed_for_more() {\n  need /usr/include/new.h libnew-dev\n}\n", "libnew-dev"),
])
def test_a_new_library_that_nobody_looked_at_is_an_error(path, line, named, tmp_path):
    for file in ("engine/libraries/CMakeLists.txt", "site/sbom.mjs", "site/setup.sh", "site/shipped.mjs", "web/package-lock.json"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    (tmp_path / "build").symlink_to(ROOT / "build")
    assert sbom(tmp_path)[0].returncode == 0
    with open(tmp_path / path, "a") as file:
        file.write(line)
    done, _ = sbom(tmp_path)
    assert done.returncode != 0
    assert named in done.stderr


def test_the_container_adds_what_the_release_makes():
    script, container = (SITE / "release.sh").read_text(), (SITE / "Containerfile").read_text()
    # As release.sh names the archive of the command: gpustrata-VERSION-linux-MACHINE.
    for said in ("name=gpustrata-$version", "machine=linux-$(uname -m)", '"$out/$name-$machine.tar.gz"', "pack build/release\n"):
        assert said in script, said
    made = ["build/release/gpustrata-0.1.0-linux-x86_64.tar.gz"]
    others = [f"build/release/gpustrata-0.1.0-{rest}" for rest in (
        "library-linux-x86_64.tar.gz", "site.tar.gz", "npm.tgz")] + ["build/release/gpustrata-0.1.0-py3-none-manylinux_2_28_x86_64.whl"]
    (added,) = re.findall(r"^ADD (\S+) /opt/$", container, re.MULTILINE)
    assert fnmatch.filter(made + others, added) == made
    (moved,) = re.findall(r"mv (/opt/\S+) /opt/gpustrata$", container, re.MULTILINE)
    assert fnmatch.fnmatch("/opt/gpustrata-0.1.0-linux-x86_64", moved)
    # Its command is installed below bin/, and loads the library that the image installs.
    assert 'ENTRYPOINT ["/opt/gpustrata/bin/gpustrata"]' in container
    assert "libmicrohttpd12" in container
    assert '"libmicrohttpd.so.12"' in (ROOT / "engine" / "serve" / "library.h").read_text()


@pytest.mark.parametrize("script", sorted(SITE.glob("*.sh")), ids=lambda path: path.name)
def test_a_script_is_bash(script):
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_release_says_how_it_is_used():
    done = subprocess.run(["bash", SITE / "release.sh", "--nonsense"], capture_output=True, text=True)
    assert done.returncode == 2
    for option in ("--no-build", "--twice"):
        assert f"bash site/release.sh {option}" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("CMAKE_BUILD_PARALLEL_LEVEL")


def test_every_package_that_is_installed_stands_in_the_table_of_dependencies():
    table = (SITE / "dependencies.md").read_text().lower()
    named = {"@eslint/js": "eslint", "@types/node": "typescript", "@axe-core/playwright": "axe-core", "@playwright/test": "playwright",
             "@modelcontextprotocol/client": "model context protocol client", "react-dom": "react", "libgtest-dev": "googletest",
             "libgmock-dev": "googletest", "libcli11-dev": "cli11", "libfmt-dev": "{fmt}", "libexpected-dev": "tl::expected",
             "libmicrohttpd-dev": "gnu libmicrohttpd", "better-sqlite3": "sqlite", "libdw-dev": "libdw", "libstdc++-12-dev": "libstdc++"}
    packages = [name for folder in ("web", "tests") for group in ("dependencies", "devDependencies")
                for name in json.loads((ROOT / folder / "package.json").read_text()).get(group, {})]
    packages += re.findall(r"^(\w+)==", (ROOT / "tests" / "requirements.txt").read_text(), re.MULTILINE)
    packages += [name for _, name, _ in re.findall(r"^(npm|pip)_sources\(\w+ (\S+) (\S+)", SOURCES, re.MULTILINE)]
    packages += re.findall(r"\blib\S+-dev\b", re.sub(r"libclang-rt\S+", "", (SITE / "setup.sh").read_text()))
    assert len(packages) > 20
    missing = [name for name in packages if named.get(name, name).lower() not in table]
    assert missing == []
