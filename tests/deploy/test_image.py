"""deploy/Containerfile: it can be built, and what it builds crawls and searches as it should."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.deploy_files import DEPLOY, GUIDE, parsed, refused, run, validator
from tests.support.loopback import Script, loopback, page
from tests.support.machine_needs import lacking
from tests.support.pip_settings import pip_settings
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = DEPLOY / "Containerfile"
TOOLS = ("buildah", "mmdebstrap", "podman", "runc")
AUTHORITY = "/etc/registry.pem"
WITHOUT_ENGINE = """\
[containers]
default_ulimits = []
netns = "host"
cgroupns = "host"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
"""
USER = 10001
PAGES: dict[str, bytes | list[bytes] | Script] = {
    "/": page(b"<title>Fruit</title><a href=/apple>apples</a> <p>All the fruit that we have."),
    "/apple": page(b"<title>Apple cider</title><p>Cider is made of apples, pressed in autumn."),
}


@pytest.mark.server
def test_hadolint_finds_nothing() -> None:
    run(validator("hadolint"), FILE)
    assert "DL3006" in refused(validator("hadolint"), "-", given="FROM debian\n")


def test_it_copies_files_that_exist_and_that_the_context_has() -> None:
    kept = re.findall("^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", FILE.read_text("utf-8"), re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    assert sources - {"src"} == set(kept) - {"src/gossamer"}
    assert all((ROOT / source).exists() for source in sources)


def test_the_command_of_the_guide_is_right() -> None:
    (line,) = re.findall(r"podman run .+? gossamer (crawl.+?)\n```", re.sub(r"\\\n *", "", GUIDE))
    text = FILE.read_text("utf-8")
    (volumes,) = re.findall("^VOLUME (.+)$", text, re.MULTILINE)
    assert parsed(shlex.split(line))["crawl"] in volumes.split()
    assert f"USER {USER}\n" in text


class Image(NamedTuple):
    """An image that was built, and how it is run without an engine."""

    storage: tuple[str, ...]
    environment: dict[str, str]

    def podman(self, *words: str | Path) -> list[str | Path]:
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        return ["env", *settings, "podman", *self.storage, *words]

    def command(self, volumes: Path, *words: str | Path, network: str = "none") -> list[str | Path]:
        """Run it with a read-only root, no capabilities, and two folders as its volumes."""
        options = ["--rm", "--read-only", "--read-only-tmpfs=false", "--cap-drop=all"]
        options += ["--security-opt=no-new-privileges", f"--network={network}"]
        for name in ("crawl", "cache"):
            folder = volumes / name
            folder.mkdir(parents=True, exist_ok=True)
            os.chown(folder, USER, USER)
            options += ["--volume", f"{folder}:/{name}"]
        return self.podman("run", *options, *words)

    def within(self, volumes: Path, program: str, *words: str) -> list[str | Path]:
        """Run another program of the image than gossamer."""
        return self.command(volumes, "--entrypoint", program, "gossamer", *words)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image, built from Debian's packages instead of Docker Hub's image."""
    if absent := [tool for tool in TOOLS if shutil.which(tool) is None]:
        lacking(f"this needs {' '.join(absent)}: apt-get install {' '.join(absent)}")
    if os.geteuid() != 0:
        lacking("this needs root, for chroot and mounts")
    folder = tmp_path_factory.mktemp("image")
    (folder / "containers.conf").write_text(WITHOUT_ENGINE)
    (folder / "pip.conf").write_text(pip_settings(folder / "registry.pem", AUTHORITY))
    (folder / "Containerfile").write_text(
        f"FROM scratch\nADD base.tar /\nCOPY pip.conf /etc/\nCOPY registry.pem {AUTHORITY}\n"
    )
    run("mmdebstrap", "--variant=minbase", "bookworm", folder / "base.tar")
    storage = (
        "--root",
        f"{folder}/store",
        "--runroot",
        f"{folder}/run",
        "--storage-driver=overlay",
    )
    build = ("buildah", *storage, "build", "--isolation=chroot", "--format=docker")
    run(*build, "--tag=base", folder)
    (folder / "base.tar").unlink()
    run(*build, "--build-arg=BASE=localhost/base", "--tag=gossamer", "--file", FILE, ROOT)
    made = Image(storage, {"CONTAINERS_CONF": str(folder / "containers.conf")})
    yield made
    run(*made.podman("system", "reset", "--force"))
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def crawled(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The volumes of a crawl of two pages, by this image."""
    volumes = tmp_path_factory.mktemp("crawled")
    with loopback() as server:
        server.answers = PAGES
        url = f"http://{server.address}/"
        words = ("gossamer", "crawl", "/crawl", "--own", url)
        run(*image.command(volumes, *words, network="host"))
    return volumes


@pytest.mark.image
def test_it_crawls_and_searches_with_a_read_only_root(image: Image, crawled: Path) -> None:
    found = run(*image.command(crawled, "gossamer", "search", "/crawl", "cider", "--json"))
    assert [hit["title"] for hit in json.loads(found)["hits"]] == ["Apple cider"]
    assert {path.stat().st_uid for path in (crawled / "crawl").rglob("*")} == {USER}


@pytest.mark.image
def test_it_can_write_to_its_volumes_only(image: Image, tmp_path: Path) -> None:
    assert run(*image.within(tmp_path, "id", "-u")).strip() == str(USER)
    for path in ("/x", "/opt/gossamer/x", "/tmp/x", "/etc/x"):  # noqa: S108  # in the image
        assert "Read-only file system" in refused(*image.within(tmp_path, "touch", path))
    run(*image.within(tmp_path, "touch", "/crawl/x", "/cache/x"))


@pytest.mark.image
def test_its_modules_are_compiled_and_it_has_no_installer(image: Image, tmp_path: Path) -> None:
    code = "from gossamer.parse.html import walk; print(walk.__file__)"
    assert run(*image.within(tmp_path, "python", "-c", code)).strip().endswith(".so")
    refused(*image.within(tmp_path, "python", "-m", "pip"))
    refused(*image.within(tmp_path, "gcc"))


@pytest.mark.image
def test_its_health_check_asks_whether_searches_are_answered(image: Image, crawled: Path) -> None:
    words = ("--name=server", "gossamer", "serve", "/crawl", "--port", "8080")
    command = image.command(crawled, *words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "http://127.0.0.1:8080/\n"
            run(*image.podman("healthcheck", "run", "server"))
        finally:
            run(*image.podman("stop", "--ignore", "--time=20", "server"))
    assert server.returncode == 0


@pytest.mark.image
def test_its_bill_of_materials_lists_what_is_locked(image: Image, tmp_path: Path) -> None:
    bill = json.loads(run(*image.within(tmp_path, "cat", "/opt/gossamer/sbom.cdx.json")))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "gossamer"
    listed = {(canonicalize_name(each["name"]), each["version"]) for each in bill["components"]}
    locked = re.findall(r"^(\S+==.+?) \\$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert listed == {
        (canonicalize_name(each.name), str(each.specifier).removeprefix("=="))
        for each in map(Requirement, locked)
        if each.marker is None or each.marker.evaluate({"python_version": "3.11"})
    }


@pytest.mark.image
def test_it_makes_certificates(image: Image, tmp_path: Path) -> None:
    script = ("--volume", f"{DEPLOY}/certificates.sh:/etc/gossamer/certificates.sh:ro")
    run(
        *image.command(
            tmp_path, *script, "--entrypoint=sh", "gossamer",
            "/etc/gossamer/certificates.sh", "/crawl", "node-1", "node-2",
        )
    )  # fmt: skip
    assert {path.name for path in (tmp_path / "crawl").iterdir()} == {
        "ca.pem",
        "node.pem",
        "node.key",
    }
