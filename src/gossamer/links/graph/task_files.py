"""The scratch files of each kind by which the tasks of a build pass on what they computed.

An array is a file of numpy. A task that needs a part of it reads only that: the file is mapped into
memory, or fetched by ranges if it is an object.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gossamer.storage import opening, task_output
from gossamer.storage.errors import disk_errors
from gossamer.storage.local_copies import local_copy
from gossamer.storage.objects.bucket import is_object_url
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

    Files = Mapping[str, tuple[File, ...]]
    """The files of each kind."""
    Indices = npt.NDArray[np.int32]

Task = TypeVar("Task")


def map_to_files(
    work: Workspace, tasks: Sequence[Task], write: Callable[[Task], Iterable[Row]]
) -> Files:
    """Run tasks; return the files that they write, per kind in the order of their tasks.

    In a small graph each step is one task, which runs here: a worker would only start for it.
    """
    schema, ddl = task_output.YIELD, task_output.YIELD_DDL
    return group_files(work.engine.map_tasks(tasks, write, schema, ddl, at_home=True))


def group_files(made: Iterable[Row]) -> Files:
    """The files among the rows that tasks yield, per kind."""
    layers = task_output.layers_of(made, 0)
    return defaultdict(tuple, {name: layer.files for name, layer in layers.items()})


def save_array(root: str, attempt: str, name: str, number: int, array: Numbers | Indices) -> Row:
    """Write an array; return its file as a row of `task_output.YIELD`, with the dataset `name`.

    Files of a name are in the order of the numbers of their tasks when their paths are sorted.
    """
    path = f"{attempt}/{name}-{number:06}-{uuid.uuid4().hex}.npy"
    file = opening.create(f"{root}/{path}")
    with disk_errors(f"{root}/{path}"):
        np.lib.format.write_array(file, array, allow_pickle=False)
        file.close()
    return task_output.file_row(name, path, array.shape[-1], file.size, "")


def load_array(path: str) -> Numbers:
    """Map an array into memory."""
    found: Numbers = np.load(local_copy(path), mmap_mode="r")
    return found


def open_array(path: str) -> Numbers | _RemoteArray:
    """Open an array of one dimension, of which only the slices that are used are read."""
    return _RemoteArray(path) if is_object_url(local_path(path)) else load_array(path)


class _RemoteArray:
    """An array in an object."""

    def __init__(self, url: str) -> None:
        self._file = opening.open_file(url)
        np.lib.format.read_magic(self._file)
        (self._size,), _, self._type = np.lib.format.read_array_header_1_0(self._file)
        self._first = self._file.tell()

    def __getitem__(self, part: slice) -> Numbers:
        begin, end, _ = part.indices(self._size)
        self._file.seek(self._first + begin * self._type.itemsize)
        data = self._file.read(max(end - begin, 0) * self._type.itemsize)
        return np.frombuffer(data, self._type)
