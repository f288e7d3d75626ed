"""Which platforms lack a wheel, by the names of wheels and by markers."""

from __future__ import annotations

import re
from importlib import metadata
from itertools import product

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.dependency_wheels import MINORS, PLATFORMS, Package, find_gaps, is_needed
from tests.support.repository import ROOT

LINUX = ("Linux x86_64", "Linux aarch64")
ALL = {(platform, minor) for platform in (*LINUX, "macOS arm64") for minor in MINORS}


def gaps_of(*tags: str, marker: str = "") -> set[tuple[str, int]]:
    wheels = tuple(f"it-1-{tag}.whl" for tag in tags)
    return {gap[1:] for gap in find_gaps(Package("it", "1", marker, wheels))}


@pytest.mark.parametrize(
    ("tag", "served"),
    [
        ("py3-none-any", ALL),
        ("py2.py3-none-any", ALL),
        ("cp311-abi3-macosx_11_0_universal2", {("macOS arm64", minor) for minor in MINORS}),
        ("cp313-abi3-manylinux_2_28_x86_64", {(LINUX[0], 13), (LINUX[0], 14)}),
        ("cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64", {(LINUX[1], 12)}),
        ("cp312-cp312-manylinux2014_aarch64.manylinux_2_17_aarch64", {(LINUX[1], 12)}),
        ("cp312-cp312-manylinux_2_36_x86_64", {(LINUX[0], 12)}),
        # Of a newer system than Debian 12, or of an older Python, or without its lock.
        ("cp312-cp312-manylinux_2_38_x86_64", set()),
        ("cp312-cp312-macosx_15_0_arm64", set()),
        ("cp310-cp310-manylinux_2_17_x86_64", set()),
        ("cp314-cp314t-manylinux_2_17_x86_64", set()),
        ("cp312-cp312-musllinux_1_2_x86_64", set()),
        ("cp312-cp312-linux_x86_64", set()),
        ("cp312-cp312-win_amd64", set()),
    ],
)
def test_a_wheel_serves_the_platforms_of_its_tags(tag: str, served: set[tuple[str, int]]) -> None:
    assert gaps_of(tag) == ALL - served


def test_several_wheels_serve_together() -> None:
    tags = [f"cp3{minor}-cp3{minor}-manylinux_2_28_x86_64" for minor in MINORS]
    assert gaps_of(*tags) == {gap for gap in ALL if gap[0] != "Linux x86_64"}


def test_a_source_alone_is_a_gap_everywhere() -> None:
    assert gaps_of() == ALL


@pytest.mark.parametrize(
    ("marker", "asking"),
    [
        ("python_version < '3.14'", {gap for gap in ALL if gap[1] < 14}),
        ("python_full_version >= '3.13.0'", {gap for gap in ALL if gap[1] >= 13}),
        ("sys_platform == 'darwin'", {gap for gap in ALL if gap[0] == "macOS arm64"}),
        ("platform_system == 'Linux'", {gap for gap in ALL if gap[0] in LINUX}),
        ("platform_machine == 'aarch64'", {gap for gap in ALL if gap[0] == LINUX[1]}),
    ],
)
def test_only_platforms_that_a_marker_names_need_a_wheel(
    marker: str, asking: set[tuple[str, int]]
) -> None:
    assert gaps_of(marker=marker) == asking


def test_the_lock_has_what_other_platforms_need_too() -> None:
    """It is made on one platform, where what only others need would be left out."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    missing = {
        f"{need} for {name} on {platform.title}, Python 3.{minor}"
        for name in locked
        for need in needs_of(name)
        for platform, minor in product(PLATFORMS, MINORS)
        if canonicalize_name(need.name) not in locked
        and is_needed(Package(need.name, "", str(need.marker or ""), ()), platform, minor)
    }
    assert not missing


def needs_of(name: str) -> list[Requirement]:
    """What an installed package requires without its extras; nothing if it is not installed."""
    try:
        return [Requirement(text) for text in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return []
