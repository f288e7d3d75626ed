"""hatch_build.py: what it compiles, and that no compiler can fail an installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.machine_needs import lacking
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

BACKEND = ROOT / "build" / "backend"
MODULE = "src/gossamer/words.py"
IN_C = {"_loops": "src/gossamer/native/module.c", "_texts": "src/gossamer/native/texts/module.c"}
MODEL = "src/gossamer/parse/reading/ngrams.bin"
OF_MODEL = (
    "release/language_model.py",
    "src/gossamer/native/__init__.py",
    "src/gossamer/native/loops.py",
    "src/gossamer/native/text_functions.py",
    MODEL.replace(".bin", ".py"),
)
MODULE_IN_C = """\
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "NAME", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_NAME(void) { return PyModule_Create(&definition); }
"""
PROJECT = f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "gossamer"
version = "0"
requires-python = ">=3.11"
[tool.hatch.build]
exclude = ["*.so"]
artifacts = ["{MODEL}"]
[tool.hatch.build.targets.wheel]
packages = ["src/gossamer"]
[tool.hatch.build.hooks.custom]
compiler = "mypy[mypyc]"
model = "eldc==0.4.0"
modules = ["{MODULE}"]
"""
BUILD = """\
import sys
from hatchling import build
print(build.get_requires_for_build_wheel())
getattr(build, f"build_{sys.argv[1]}")(sys.argv[2])
"""
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
FAILS_LATER = """\
#!/bin/sh
case "$*" in *probe.c*) exec cc "$@";; esac
echo "error: out of memory" >&2
exit 1
"""
MAKES_OTHERS = """\
#!/bin/sh
case "$*" in *-shared*) for out; do :; done; cc -shared -x c /dev/null -o "$out"; exit 0;; esac
exec cc "$@"
"""
"""Its libraries can be linked, and have nothing in them."""


class Built(NamedTuple):
    """A wheel, and what its build printed."""

    wheel: Path
    printed: str

    @property
    def is_pure(self) -> bool:
        with zipfile.ZipFile(self.wheel) as members:
            compiled = [name for name in members.namelist() if name.endswith(".so")]
        assert bool(compiled) != self.wheel.name.endswith("-py3-none-any.whl")
        return not compiled


class Project:
    """A package of one module, and two in C, which the hook compiles."""

    def __init__(self, root: Path) -> None:
        if not BACKEND.exists():
            lacking("this needs the build backend: make setup")
        self.root = root
        self.source = root / MODULE
        self.source.parent.mkdir(parents=True)
        self.source.write_text("def double(word: str) -> str:\n    return word + word\n")
        (self.source.parent / "__init__.py").touch()
        for name, module in IN_C.items():
            (root / module).parent.mkdir(parents=True)
            (root / module).write_text(MODULE_IN_C.replace("NAME", name))
        (root / MODEL).parent.mkdir(parents=True)
        (root / MODEL).write_text("a model")
        (root / "pyproject.toml").write_text(PROJECT)
        shutil.copy(ROOT / "hatch_build.py", root)
        self.older = self.source.with_suffix(SUFFIX)
        self.older.write_text("from an editable installation")

    def build(self, form: str = "wheel", code: int = 0, **settings: str) -> Built:
        """Build a wheel of this form, with these variables of the environment."""
        kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(BACKEND)}
        dist = self.root / "dist"
        done = subprocess.run(
            [sys.executable, "-c", BUILD, form, dist],
            cwd=self.root,
            env=kept | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return Built(next(dist.glob("*.whl"), dist), done.stdout + done.stderr)

    def build_sdist(self) -> Path:
        """Build an sdist, with what the model is made from beside the hook."""
        for name in OF_MODEL:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.build("sdist")
        return next((self.root / "dist").glob("*.tar.gz"))

    def compiled(self) -> set[str]:
        return {path.name for path in self.root.rglob("src/**/*.so*")}

    def compiler(self, script: str) -> str:
        path = self.root / "compiler"
        path.write_text(script)
        path.chmod(0o755)
        return str(path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("compiler", "says"),
    [
        ("/bin/false", "/bin/false does not work (no message)"),
        ("/bin/true", "/bin/true does not work (no message)"),
        ("no-such-cc --fast", "no-such-cc cannot be run"),
        ("cc -I/nowhere -include absent.h", "absent.h: No such file"),
    ],
)
def test_a_compiler_that_does_not_work_gives_a_pure_wheel(
    project: Project, compiler: str, says: str
) -> None:
    built = project.build(CC=compiler)
    assert built.is_pure
    (line,) = [line for line in built.printed.splitlines() if says in line]
    assert "parsing a page takes 2.3 times as long" in line
    assert built.printed.startswith("['eldc==0.4.0']\n")  # mypyc is not even downloaded


def test_a_pure_wheel_can_be_asked_for(project: Project) -> None:
    assert project.build(GOSSAMER_PURE="1").is_pure


@pytest.mark.parametrize("other", [{"CC": "/bin/false"}, {"GOSSAMER_PURE": "1"}])
def test_a_build_that_must_compile_fails(project: Project, other: dict[str, str]) -> None:
    built = project.build(code=1, GOSSAMER_COMPILED="1", **other)
    assert not built.wheel.suffix
    assert project.compiled() == {project.older.name}


def test_a_wheel_leaves_what_is_beside_the_sources(project: Project) -> None:
    built = project.build(GOSSAMER_COMPILED="1")
    assert not built.is_pure
    assert built.printed.startswith("['eldc==0.4.0', 'mypy[mypyc]']\n")
    assert project.compiled() == {project.older.name}
    imported = "gossamer._loops, gossamer._texts, gossamer.words as w"
    code = f"import {imported}; print(w.double('a'), w.__file__)"
    installed = {"PYTHONPATH": str(built.wheel.with_suffix(""))}
    shutil.unpack_archive(built.wheel, installed["PYTHONPATH"], "zip")
    said = subprocess.check_output([sys.executable, "-c", code], env=installed, text=True)
    assert said.startswith("aa ")
    assert said.endswith(f"{SUFFIX}\n")


@pytest.mark.parametrize(
    ("script", "says"),
    [(FAILS_LATER, "could not be compiled"), (MAKES_OTHERS, "cannot be loaded")],
    ids=["fails later", "makes others"],
)
def test_a_compiler_that_fails_later_leaves_nothing(
    project: Project, script: str, says: str
) -> None:
    built = project.build("editable", CC=project.compiler(script))
    assert says in built.printed
    assert project.compiled() == set()


def test_an_editable_installation_has_compiled_modules(project: Project) -> None:
    project.build("editable", GOSSAMER_COMPILED="1")
    names = {"gossamer__mypyc", *IN_C}
    assert project.compiled() == {project.older.name, *(f"{name}{SUFFIX}" for name in names)}
    assert project.older.read_bytes().startswith(b"\x7fELF")


def test_the_parser_is_compiled_without_the_types_of_libraries(
    project: Project, tmp_path: Path
) -> None:
    """An isolated build has none of them. Where code relies on one, mypyc crashes."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.so", "*.pyc"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, copy)
    done = subprocess.run(
        [vars(sys)["_base_executable"], "-c", BUILD, "wheel", tmp_path / "dist"],
        cwd=copy,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(BACKEND),
            "CC": project.compiler(FAILS_LATER),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert "could not be compiled (command " in done.stderr.lower()  # in C, not by mypyc


def test_an_sdist_has_the_language_model_and_needs_nothing_to_make_it(project: Project) -> None:
    (project.root / MODEL).unlink()
    made = project.build_sdist()
    assert (project.root / MODEL).read_bytes() == (ROOT / MODEL).read_bytes()
    (project.root / MODEL).unlink()
    shutil.unpack_archive(made, project.root / "unpacked")
    (project.root,) = (project.root / "unpacked").iterdir()
    assert (project.root / MODEL).read_bytes() == (ROOT / MODEL).read_bytes()
    assert project.build(GOSSAMER_PURE="1").printed.startswith("[]\n")
