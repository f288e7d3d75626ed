"""The errors of object stores are those of gossamer, without what the server quotes."""

from __future__ import annotations

import errno

import pytest
from obstore.exceptions import AlreadyExistsError, BaseError

from gossamer.errors import StoreError, Unanswered
from gossamer.storage.objects.errors import (
    ACCESS_REMEDY,
    BUSY_REMEDY,
    CODES,
    KEYS_REMEDY,
    REACH_REMEDY,
    bucket_errors,
    translate_error,
)

URL = "s3://bucket/key"


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ("status code: 403 <Secret>x</Secret>", "access is refused (403)", ACCESS_REMEDY),
        (
            "status code: 403, <Code>AccessDenied</Code> secret",
            "access is refused (403 AccessDenied)",
            ACCESS_REMEDY,
        ),
        (
            "after 3 retries: status code: 503, <Code>SlowDown</Code>",
            "the store asks for fewer requests (503 SlowDown, after 3 retries)",
            BUSY_REMEDY,
        ),
        ("status code: 500", "the object store refuses a request (500)", REACH_REMEDY),
        (
            "status code: 400 <Code>ExpiredToken</Code>",
            "the credentials have expired (400 ExpiredToken)",
            CODES["ExpiredToken"][1],
        ),
        ("dns error", "the object store cannot be reached", REACH_REMEDY),
        (
            "after 10 retries: dns error",
            "the object store cannot be reached, after 10 retries",
            REACH_REMEDY,
        ),
        ("http://169.254.169.254/ failed", "no credentials were found", KEYS_REMEDY),
        ("status code: 403 CredentialsError", "no credentials were found", KEYS_REMEDY),
    ],
)
def test_an_error_says_what_happened_and_what_helps(text: str, what: str, remedy: str) -> None:
    error = translate_error(URL, text)
    assert (error.subject, error.what, error.remedy) == (URL, what, remedy)
    assert isinstance(error, Unanswered) == ("reached" in what)


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (FileNotFoundError("<Code>NoSuchKey</Code>"), FileNotFoundError, "no such object"),
        (FileNotFoundError("no code"), FileNotFoundError, "no such object"),
        (
            FileNotFoundError("status code: 404 <Code>NoSuchBucket</Code>"),
            StoreError,
            "there is no such bucket",
        ),
        (AlreadyExistsError("secret"), FileExistsError, "object exists"),
        (BaseError("status code: 401 secret"), StoreError, r"access is refused \(401\)"),
        (OSError("of a writer: status code: 429"), StoreError, "fewer requests"),
        (OSError(errno.ENOSPC, "no space left"), OSError, "no space left"),
    ],
)
def test_errors_of_the_library(raised: Exception, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as error, bucket_errors(URL):
        raise raised
    assert "secret" not in str(error.value)
    if isinstance(error.value, OSError) and not isinstance(raised, OSError):
        assert error.value.errno == errno.EEXIST
    assert URL in str(error.value) or "no space" in str(error.value)
