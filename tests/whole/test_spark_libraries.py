"""The libraries that Spark fetches for an object store come from one place, or an error says so."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from gossamer.errors import UsageError
from tests.support.spark_cluster import REPOSITORY, Cluster, libraries, s3a

if TYPE_CHECKING:
    from pathlib import Path

STORE = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "here"}
MASTER_OR_WORKER = """\
#!/bin/sh
echo "Starting Spark master at spark://here:1"
echo "Successfully registered with master"
exec sleep 60
"""
CONNECT = """\
#!/bin/sh
echo "[download failed: org.apache.hadoop#hadoop-aws;3.5.0!hadoop-aws.jar]"
exit 1
"""


def test_no_local_repository_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPOSITORY, "https://mirror.example/?a&b")
    settings = s3a(tmp_path, tmp_path, STORE)["spark.jars.ivySettings"]
    (resolvers,) = ET.parse(settings).getroot().iter("resolvers")  # noqa: S314  # our own
    assert [each.get("root") for each in resolvers] == ["https://mirror.example/?a&b"]


@pytest.mark.server
def test_libraries_that_do_not_come_are_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name, text in (("spark-class", MASTER_OR_WORKER), ("spark-submit", CONNECT)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    half = libraries(tmp_path).parent / "cache" / "ivydata-3.5.0.properties"
    half.parent.mkdir(parents=True)
    half.touch()
    told: list[str] = []
    with pytest.raises(UsageError, match=r"(?s)repo1\.maven\.org.*check the network"):
        Cluster(tmp_path, tmp_path, "python", STORE, announce=told.append)
    assert "downloads" in told[-1]
    assert not half.exists()
