"""Messages between the engine and a worker process: bytes and Arrow batches, over a socket.

multiprocessing's `Connection` receives a large message in the pieces in which it arrives, each in
memory of its own, and copies them. Most of the time went to the kernel, for new pages of memory.
Here, a message is received in a buffer of its size, of Arrow's allocator, which keeps freed memory
for the next one, and the batch in it is not copied.
"""

from __future__ import annotations

import socket
import struct

import pyarrow as pa

_SIZE = struct.Struct("!Q")


class Messages:
    """One end of a socket. Methods raise ConnectionError or EOFError if the other end is closed."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def send(self, message: bytes | pa.Buffer) -> None:
        """Send bytes."""
        self._socket.sendall(_SIZE.pack(len(message)))
        self._socket.sendall(message)

    def receive(self) -> pa.Buffer:
        """The bytes of the next message."""
        size = bytearray(_SIZE.size)
        self._fill(memoryview(size))
        message = pa.allocate_buffer(*_SIZE.unpack(size))
        self._fill(memoryview(message).cast("B"))
        return message

    def _fill(self, buffer: memoryview) -> None:
        while buffer:
            received = self._socket.recv_into(buffer, 0, socket.MSG_WAITALL)
            if not received:
                raise EOFError
            buffer = buffer[received:]

    def close(self) -> None:
        self._socket.close()


def encode_batch(batch: pa.RecordBatch) -> pa.Buffer:
    """A batch with its schema, as a message."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def decode_batch(message: pa.Buffer) -> pa.RecordBatch:
    """The batch in a message, which it keeps in memory."""
    with pa.ipc.open_stream(message) as reader:
        return reader.read_next_batch()
