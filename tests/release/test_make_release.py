"""Which section of the changelog belongs to a version, and what the provenance says."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from release.make_release import Source, Unfit, changes_of, provenance, read_version
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CHANGELOG = "# Changelog\n\n## [0.2.0] - soon\n\nNew.\n\n### Added\n\n- It.\n\n## [0.1.0]\n\nOld.\n"


def test_a_section_ends_where_the_next_one_begins() -> None:
    assert changes_of("0.2.0", CHANGELOG) == "## [0.2.0] - soon\n\nNew.\n\n### Added\n\n- It.\n"
    assert changes_of("0.1.0", CHANGELOG) == "## [0.1.0]\n\nOld.\n"


@pytest.mark.parametrize("changelog", ["# Changelog\n", CHANGELOG + CHANGELOG])
def test_a_version_without_one_section_is_not_released(changelog: str) -> None:
    with pytest.raises(Unfit, match=r"sections for 0\.1\.0; it needs one"):
        changes_of("0.1.0", changelog)


def test_this_version_has_a_section() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert changes_of(read_version(), changelog).startswith(f"## [{read_version()}]")


def test_the_provenance_names_each_file_by_its_digest(tmp_path: Path) -> None:
    file = tmp_path / "gossamer-1-py3-none-any.whl"
    file.write_bytes(b"a wheel")
    statement = provenance(
        [file], "1", Source("c0ffee", is_changed=False), datetime(2026, 1, 2, tzinfo=UTC)
    )
    digest = hashlib.sha256(b"a wheel").hexdigest()
    assert statement["subject"] == [{"name": file.name, "digest": {"sha256": digest}}]
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    locks = {
        each["uri"] for each in statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    }
    assert locks == {"git+file:.", "file:requirements.lock", "file:requirements-build.lock"}
    assert statement["predicate"]["runDetails"]["metadata"]["finishedOn"] == "2026-01-02T00:00:00Z"
