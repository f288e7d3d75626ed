"""The Spark Connect client: how the driver imports it and reaches a server.

Facts (pyspark 4.2, gRPC 1.85), in milliseconds of a query of three that writes few rows on the
embedded engine:
  * A stream of results has a thread of its own, which costs 1 to start. The channel's option
    `SingleThreadedUnaryStream` does without.
  * A query can be taken up again if the connection breaks. For that, the server is told what has
    arrived, which costs another 1. To a server in the same process no connection breaks.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from gossamer.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client import DefaultChannelBuilder, SparkConnectClient

SPARK_CONNECT_PORT = 15002
CONNECT_TIMEOUT_S = 10
KEEPALIVE_S = 310.0
"""A server of gRPC may close connections that are tested more often than every five minutes."""
PONG_S = 20.0
NEVER = 2**31 - 1
"""The largest time of gRPC's options, which stands for none."""
COMPRESSION = 16
"""How many times larger a table is in memory than Spark supposes by the size of its files.

Spark joins a table that it takes for smaller than 10 MB by a copy for each executor, which its
server collects first. It took the URLs of five million pages for so small, and its heap of 512 MB
was not enough: Spark knows the sizes of files, but not those of their columns, nor how much smaller
text is when it is compressed.
"""


def connect_spark(url: str, *, embedded: bool) -> SparkSession:
    """Connect to a server. The embedded one accepts a single connection, which must last."""
    where = urlsplit(url)
    try:  # the client itself would keep trying for ten minutes
        port = where.port or SPARK_CONNECT_PORT
        if not embedded:
            socket.create_connection((where.hostname or "", port), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        raise _unreachable_server(url, error) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings from within the libraries
        logging.getLogger("pyspark").setLevel(logging.ERROR)
        try:
            import_client()
            from pyspark.sql.connect.session import SparkSession as Remote

            os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # pyspark's builder sets it for URLs
            builder = _channel_builder(url, where.hostname or "", embedded=embedded)
            if not embedded:
                _await_greeting(builder)
            spark = Remote.builder.channelBuilder(builder).create()
            spark.conf.set("spark.sql.session.timeZone", "UTC")
            if embedded:
                spark.conf.set("spark.python.sql.dataFrameDebugging.enabled", "false")
                spark.client.disable_reattachable_execute()
            else:
                spark.conf.set("spark.sql.sources.fileCompressionFactor", COMPRESSION)
        except Exception as error:
            raise _unreachable_server(url, error) from error
    return cast("SparkSession", spark)


class ClusterClient:
    """The client of a session with a cluster, for what this process does not run itself."""

    def __init__(self, session: SparkSession) -> None:
        self._session: Any = session

    def client(self) -> SparkConnectClient:
        return cast("SparkConnectClient", self._session.client)


def _channel_builder(url: str, host: str, *, embedded: bool) -> DefaultChannelBuilder:
    """The channel builder of pyspark, but without a proxy to this machine, and with keepalive.

    Facts (gRPC 1.85): `http_proxy` in the environment applies to loopback too, unless `no_proxy`
    names it. Without keepalive, a query waits for ever if a network forgets its connection. The
    answer to a ping is awaited for `ping_timeout_ms`, by default a minute, whatever
    `keepalive_timeout_ms` says. A connection without requests for half an hour is closed, and
    opened again for the next one.
    """
    from grpc.experimental import ChannelOptions
    from pyspark.sql.connect.client import DefaultChannelBuilder

    options = [(ChannelOptions.SingleThreadedUnaryStream, 1)]
    if embedded:
        options.append(("grpc.client_idle_timeout_ms", NEVER))
    else:
        options.append(("grpc.keepalive_time_ms", int(KEEPALIVE_S * 1000)))
        options.append(("grpc.http2.ping_timeout_ms", int(PONG_S * 1000)))
        options.append(("grpc.http2.max_pings_without_data", 0))
    if is_loopback(host):
        options.append(("grpc.enable_http_proxy", 0))
    return DefaultChannelBuilder(url, options)


def _await_greeting(builder: DefaultChannelBuilder) -> None:
    """Raises TimeoutError if the server accepts connections but does not answer in gRPC.

    gRPC looks for an answer five times a second, so this takes 0.2 s.
    """
    import grpc

    with builder.toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(CONNECT_TIMEOUT_S)
        except grpc.FutureTimeoutError:
            raise TimeoutError(f"no answer within {CONNECT_TIMEOUT_S} s") from None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def import_client() -> None:
    """Import the Spark Connect client, whatever the main program is.

    Fact (pyspark 4.2): under `python -c` and `python -`, whose main module has no file, it assumes
    a run of its own doctests, looks for a Spark installation, and exits.
    """
    main = sys.modules["__main__"]
    without_file = not hasattr(main, "__file__")
    if without_file:
        main.__file__ = "<stdin>"
    try:
        import_module("pyspark.sql.connect.session")
    finally:
        if without_file:
            del main.__file__


def _unreachable_server(url: str, error: Exception) -> EngineError:
    return EngineError(
        url, f"cannot be reached: {error}", "start this server, or change engine.url"
    )
