"""Compiles the hot modules of the parser with mypyc, and what is in C, while the package is built.

Before that, it writes the model of the language detector, unless it is there: an sdist has it.

What is compiled also runs as Python: the modules of the parser are what mypyc compiles, and what
is in C has definitions beside those who call it (`gossamer/native/`). They do so without a C
compiler, with one that fails, and with GOSSAMER_PURE=1, which compiles nothing. With
GOSSAMER_COMPILED=1, a build that cannot compile fails.

Everything is compiled in a scratch folder, and taken from there only when all of it is made and can
be loaded. An editable installation gets the compiled modules beside their sources; the build of a
wheel leaves the sources and what is beside them alone.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARED = "gossamer__mypyc"
"""Holds the code of all modules. The compiled modules themselves only load theirs from it."""
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
TYPES = """\
[mypy]
follow_imports = skip
ignore_missing_imports = True
[mypy-gossamer.*]
follow_imports = silent
"""
"""Types of other packages change nothing in what is compiled, and take 24 seconds to read. An
isolated build has none of them."""
IN_C = {"gossamer/_loops": "native", "gossamer/_texts": "native/texts"}
"""Modules in C, without their suffixes, and the folders of their sources."""
MODEL = "src/gossamer/parse/reading/ngrams.bin"
OF_SDIST = "PKG-INFO"
COST = (
    "The parser and the link graph run as Python: parsing a page takes 2.3 times as long,"
    " and a link takes 4 µs to be read and 8 to be written, 100 to 200 times as long."
)


class NotCompiled(Exception):  # as the package's own errors
    """Why the modules were not compiled, in a line."""


class CompilingHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Builds that compile nothing do not download mypyc."""
        needs = [] if Path(self.root, OF_SDIST).exists() else [self.config["model"]]
        if self.target_name == "sdist":
            return needs
        if not os.environ.get("GOSSAMER_COMPILED"):
            try:
                _check_compiler()
            except NotCompiled:
                return needs
        return [*needs, self.config["compiler"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if not (root / MODEL).exists():
            command = [sys.executable, str(root / "release/language_model.py"), str(root / MODEL)]
            paths = [str(root / "src"), *sys.path]
            subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": ":".join(paths)})
        if self.target_name == "wheel":
            self._compile(root, version, build_data)

    def _compile(self, root: Path, version: str, build_data: dict[str, Any]) -> None:
        modules = [Path(module) for module in self.config["modules"]]
        self._scratch = TemporaryDirectory()  # until `finalize`, as the wheel is packed from it
        scratch = Path(self._scratch.name)
        if version == "editable":
            _remove_compiled(root, modules)
        try:
            _check_compiler()
            _compile(root, modules, scratch)
            made = _made(modules, scratch)
        except NotCompiled as error:
            if os.environ.get("GOSSAMER_COMPILED"):
                raise
            self.app.display_warning(f"{error}. {COST}")
            return
        if version == "editable":
            _put_beside_sources(root, modules, made, scratch)
        else:
            build_data["force_include"] |= {str(scratch / file): file for file in made}
            build_data |= {"pure_python": False, "infer_tag": True}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if self.target_name == "wheel":
            self._scratch.cleanup()


def _check_compiler() -> None:
    """Raise NotCompiled unless something can be compiled: in milliseconds, and without mypyc."""
    if os.environ.get("GOSSAMER_PURE"):
        raise NotCompiled("GOSSAMER_PURE is set")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with TemporaryDirectory() as scratch:
        source, made = Path(scratch, "probe.c"), Path(scratch, "probe.o")
        source.write_text("#include <Python.h>\n")
        include = f"-I{sysconfig.get_path('include')}"
        command = [*compiler, include, "-c", str(source), "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise NotCompiled(f"The C compiler {compiler[0]} cannot be run ({error})") from error
        if done.returncode or not made.exists():
            raise NotCompiled(
                f"The C compiler {compiler[0]} does not work ({_first_error(done.stderr)})"
            )


def _first_error(printed: str) -> str:
    lines = printed.strip().splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else "no message")


def _compile(root: Path, modules: list[Path], scratch: Path) -> None:
    """Compile into `scratch`. Raises NotCompiled, whatever went wrong in mypyc or the compiler."""
    try:
        from mypyc.build import mypycify
        from setuptools import Distribution, Extension

        types = scratch / "mypy.ini"
        types.write_text(TYPES)
        with chdir(root):
            extensions = mypycify(
                [f"--config-file={types}", "--cache-dir", str(scratch), *map(str, modules)],
                target_dir=str(scratch),
                group_name="gossamer",  # as in SHARED
            )
            in_c = [
                Extension(
                    name.replace("/", "."),
                    sorted(map(str, Path("src/gossamer", folder).glob("*.c"))),
                    extra_compile_args=["-O3", "-ffp-contract=off", "-fopenmp-simd"],
                )
                for name, folder in IN_C.items()
            ]
            distribution = Distribution({"name": "gossamer", "ext_modules": [*extensions, *in_c]})
            command = distribution.get_command_obj("build_ext")
            command.build_lib = str(scratch)
            command.build_temp = str(scratch / "objects")
            command.ensure_finalized()
            command.run()
    except (Exception, SystemExit) as error:  # mypyc exits if it finds errors of types
        raise NotCompiled(f"The parser could not be compiled ({error})") from error


def _made(modules: list[Path], scratch: Path) -> list[str]:
    """Names of the compiled files in `scratch`. Raises NotCompiled unless all can be loaded."""
    names = [str(module.relative_to("src").with_suffix(SUFFIX)) for module in modules]
    made = [*(name + SUFFIX for name in (SHARED, *IN_C)), *names]
    if missing := [name for name in made if not (scratch / name).is_file()]:
        raise NotCompiled(f"The C compiler has not made {missing[0]}")
    folders = [str(scratch), str(scratch / "gossamer")]
    loaded = ", ".join([SHARED, *(Path(name).name for name in IN_C)])
    load = f"import sys; sys.path[:0] = {folders}; import {loaded}"
    done = subprocess.run([sys.executable, "-I", "-c", load], capture_output=True, check=False)
    if done.returncode:
        error = done.stderr.decode(errors="replace").strip().splitlines()[-1]
        raise NotCompiled(f"What the C compiler made cannot be loaded ({error})")
    return made


def _remove_compiled(root: Path, modules: list[Path]) -> None:
    """Remove what earlier builds put beside the sources: Python would prefer it to them."""
    for module in (*modules, *(Path("src", name) for name in (SHARED, *IN_C))):
        for older in (root / module.parent).glob(f"{module.stem}.*.so"):
            older.unlink()


def _put_beside_sources(root: Path, modules: list[Path], made: list[str], scratch: Path) -> None:
    """Put all files there, or none: a compiled module needs the others."""
    copies = {root / "src" / f"{name}.part": root / "src" / name for name in made}
    try:
        for name, copy in zip(made, copies, strict=True):
            copy.write_bytes((scratch / name).read_bytes())
        for copy, file in copies.items():
            copy.replace(file)
    except BaseException:
        _remove_compiled(root, modules)
        raise
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)
