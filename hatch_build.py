"""Compiles the hot modules of the parser with mypyc while the package is built.

The sources stay what they are: without a C compiler, or with GOSSAMER_PURE=1, the same modules run
as Python. An editable installation gets the compiled modules beside their sources.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARED = "gossamer__mypyc"
"""Holds the code of all modules. The compiled modules themselves only load theirs from it."""
TYPES = """\
[mypy]
follow_imports = skip
ignore_missing_imports = True
[mypy-gossamer.*]
follow_imports = silent
"""
"""Types of other packages change nothing in what is compiled, and take 24 seconds to read."""


class CompilingHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        modules = [Path(module) for module in self.config["modules"]]
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        for module in (*modules, Path("src", SHARED)):
            for older in Path(self.root, module.parent).glob(f"{module.stem}.*.so"):
                older.unlink()
        if os.environ.get("GOSSAMER_PURE") or not _has_compiler():
            self.app.display_info("The parser is not compiled.")
            return
        _compile(Path(self.root), [str(module) for module in modules])
        if version != "editable":
            made = [module.with_name(module.stem + suffix) for module in modules]
            made.append(Path("src", SHARED + suffix))
            names = {str(file): str(file.relative_to("src")) for file in made}
            build_data["force_include"] |= names
            build_data |= {"pure_python": False, "infer_tag": True}


def _has_compiler() -> bool:
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "").split()
    header = Path(sysconfig.get_path("include"), "Python.h")
    return bool(compiler) and shutil.which(compiler[0]) is not None and header.exists()


def _compile(root: Path, modules: list[str]) -> None:
    from mypyc.build import mypycify
    from setuptools import Distribution

    with TemporaryDirectory() as scratch, chdir(root):
        types = Path(scratch, "mypy.ini")
        types.write_text(TYPES)
        extensions = mypycify(
            [f"--config-file={types}", "--cache-dir", scratch, *modules],
            target_dir=scratch,
            group_name="gossamer",  # as in SHARED
        )
        distribution = Distribution({"name": "gossamer", "ext_modules": extensions})
        distribution.package_dir = {"": "src"}
        command = distribution.get_command_obj("build_ext")
        command.inplace = True
        command.build_lib = command.build_temp = scratch
        command.ensure_finalized()
        command.run()
