"""Errors of object stores, as StoreErrors with the URL and a remedy.

Fact (obstore 0.12): an error's text holds the answer of the server, which may quote the access key
and what was signed. So only the status and the code of an answer are passed on.
"""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gossamer.errors import MissingBucket, StoreError, Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_RETRIES = re.compile(r"after (\d+) retries")
_NO_KEYS = re.compile(r"169\.254\.|getting credentials|metadata\.google\.internal|CredentialsError")

KEYS_REMEDY = (
    "set the usual variables: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE), "
    "GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_NAME with a key"
)
ACCESS_REMEDY = "check the keys, and that they may list, read, write and delete below this URL"
BUSY_REMEDY = "run the same command again later, or with fewer workers (engine.workers)"
REACH_REMEDY = "check the network and, for s3://, AWS_ENDPOINT_URL; then run the same command again"
MISSING = {
    "NoSuchBucket": "there is no such bucket",
    "ContainerNotFound": "there is no such container",
}
CODES = {code: (what, "create it, or use another URL") for code, what in MISSING.items()} | {
    "RequestTimeTooSkewed": ("the clocks differ too much", "set the clock of this machine"),
    "PermanentRedirect": ("the bucket is in another region", "set AWS_REGION to the bucket's"),
    "AuthorizationHeaderMalformed": (
        "the bucket is in another region",
        "set AWS_REGION to the bucket's",
    ),
    "ExpiredToken": ("the credentials have expired", "get new ones, and run the command again"),
}
STATUS = {
    401: ("access is refused", ACCESS_REMEDY),
    403: ("access is refused", ACCESS_REMEDY),
    429: ("the store asks for fewer requests", BUSY_REMEDY),
    503: ("the store asks for fewer requests", BUSY_REMEDY),
}


@contextmanager
def bucket_errors(url: str) -> Iterator[None]:
    """Raise obstore's errors as StoreErrors with a URL.

    An object that does not exist, or exists already, is FileNotFoundError or FileExistsError.
    """
    from obstore.exceptions import AlreadyExistsError, BaseError

    try:
        yield
    except FileNotFoundError as error:
        if (code := _CODE.search(str(error))) is not None and code[1] in CODES:
            raise translate_error(url, str(error)) from None
        raise FileNotFoundError(errno.ENOENT, "no such object", url) from None
    except AlreadyExistsError:
        raise FileExistsError(errno.EEXIST, "object exists", url) from None
    except BaseError as error:
        raise translate_error(url, str(error)) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise translate_error(url, str(error)) from None  # of a writer


def translate_error(url: str, text: str) -> StoreError:
    """The StoreError for the text of an error of obstore."""
    status, code, retries = _STATUS.search(text), _CODE.search(text), _RETRIES.search(text)
    after = f", after {retries[1]} retries" if retries else ""
    if _NO_KEYS.search(text):
        return StoreError(url, "no credentials were found", KEYS_REMEDY)
    if status is None:
        return Unanswered(url, f"the object store cannot be reached{after}", REACH_REMEDY)
    what, remedy = STATUS.get(int(status[1]), ("the object store refuses a request", REACH_REMEDY))
    what, remedy = CODES.get(code[1], (what, remedy)) if code else (what, remedy)
    answer = f"{status[1]} {code[1]}" if code else status[1]
    kind = MissingBucket if code and code[1] in MISSING else StoreError
    return kind(url, f"{what} ({answer}{after})", remedy)
