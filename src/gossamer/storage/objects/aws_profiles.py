"""The files of AWS's tools: ~/.aws/credentials and ~/.aws/config.

object_store reads AWS's environment variables, and asks the metadata service of the machine, but
does not read these files. Of them, keys, region and endpoint are used. Profiles that get their keys
from elsewhere (a role, single sign-on, a process) are not supported.
Source: https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
"""

from __future__ import annotations

import configparser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
OTHERS = ("region", "endpoint_url")
OWN_KEYS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables that name credentials. They take precedence over a profile."""


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What the profile of AWS_PROFILE (or `default`) adds to the environment, as variables.

    Variables that are set already are left out. Raises UsageError if AWS_PROFILE names a profile
    that no file has, or if a file cannot be read.
    """
    name = environment.get("AWS_PROFILE", "default")
    profile = _sections(environment, "AWS_CONFIG_FILE", "config").get(
        name if name == "default" else f"profile {name}", {}
    )
    secrets = _sections(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials").get(name, {})
    if "AWS_PROFILE" in environment and not profile and not secrets:
        raise UsageError(
            "AWS_PROFILE",
            f"there is no profile {name} in ~/.aws/config or ~/.aws/credentials",
            "name one of them, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    found = profile | secrets
    added = {f"AWS_{name.upper()}": found[name] for name in OTHERS if name in found}
    if not any(own in environment for own in OWN_KEYS):
        added |= {name.upper(): found[name] for name in KEYS if name in found}
    return {name: value for name, value in added.items() if name not in environment}


def _sections(
    environment: Mapping[str, str], variable: str, name: str
) -> dict[str, dict[str, str]]:
    path = Path(environment.get(variable, f"~/.aws/{name}"))
    with suppress(RuntimeError):  # this user has no home
        path = path.expanduser()
    parser = configparser.RawConfigParser(default_section="", strict=False)
    try:
        parser.read_string(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        # The text of a parser's error quotes lines, maybe with a key.
        what = f"cannot be read ({type(error).__name__})"
        raise UsageError(path, what, "mend this file of AWS's tools") from None
    return {section: dict(parser[section]) for section in parser.sections()}
