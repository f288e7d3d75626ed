from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from gossamer import config
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def test_missing_keys_have_their_defaults() -> None:
    assert config.loads("", "x") == config.Config()
    assert config.loads("[fetch]\ndelay_s = 2", "x").fetch.delay_s == 2.0


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[fetch]\ndelay = 1", "`delay`"),
        ("[fetsh]", "`fetsh`"),
        ("[fetch]\ndelay_s = 'long'", "fetch.delay_s"),
        ("[fetch]\ndelay_s = -1", "fetch.delay_s"),
        ("[generate]\npages = 0", "generate.pages"),
        ("[rank]\ndamping = 1.0", "rank.damping"),
        ("[engine]\nurl = 'spark://x'", "engine.url"),
        ("[filter]\nscope = 'world'", "filter.scope"),
        ("[serve]\nport = 70000", "serve.port"),
        ("[serve]\nnodes = [[]]", "serve.nodes"),
        ("[serve]\nnodes = ['a']", "serve.nodes"),
        ("[urls]\ndrop_parameters = ['a*b']", "urls.drop_parameters"),
        ("[fetch]\nhost_overrides = {'*.test' = 'nowhere'}", "host_overrides: '*.test'"),
        ("[fetch]\nnameservers = ['ns.test']", "nameservers: 'ns.test'"),
        ("[fetch]\nallow_networks = ['10.0.0.1/8']", "allow_networks: '10.0.0.1/8'"),
        ("[fetch\n", "not TOML"),
    ],
)
def test_an_error_names_file_and_key(text: str, named: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config.loads(text, "some/gossamer.toml")
    assert "some/gossamer.toml" in str(raised.value)
    assert named in str(raised.value)
    assert "docs/settings.md" in raised.value.remedy


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "gossamer.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"gossamer\.toml: cannot be read"):
        config.load(path)


def test_all_errors_are_told_at_once() -> None:
    text = """
    nonsense = 1
    [fetsh]
    a = 1
    b = 2
    [fetch]
    delay = 1
    timeout_s = "long"
    contact = "me@example.org"
    nameservers = ["ns.test"]
    [generate]
    pages = 0
    """
    with pytest.raises(ConfigError) as raised:
        config.loads(text, "gossamer.toml")
    first, *problems = raised.value.what.splitlines()
    assert first == "6 settings cannot be used:"
    named = ["`nonsense`", "`fetsh`", "`delay`", "fetch.timeout_s", "ns.test", "generate.pages"]
    assert all(name in problem for name, problem in zip(named, problems, strict=True))
    assert "me@example.org" not in raised.value.what


def test_settings_may_have_their_former_names() -> None:
    found = config.loads(
        "[fetch]\nown = ['a.test']\nresolve = {}\n[store]\nwarc_whole = ['x']", "t"
    )
    assert found.fetch.own_hosts == ("a.test",)
    assert found.store.warc_keep == ("x",)
    for (table, former), name in config.FORMER_NAMES.items():
        default = getattr(getattr(config.Config(), table), name)
        value = msgspec.json.encode(default).decode().replace("{}", "{ }")
        assert config.loads(f"[{table}]\n{former} = {value}", "t") == config.Config()


def test_a_setting_has_one_of_its_names() -> None:
    with pytest.raises(ConfigError, match="unknown key `own`"):
        config.loads("[fetch]\nown = []\nown_hosts = []", "t")
