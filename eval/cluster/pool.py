# pyright: basic, reportMissingImports=false
"""Ray itself: starts or joins a cluster, sends units, hands over reports. I/O.

The only module that imports ray, an extra. Ray Data keeps as many blocks under way as the workers
take, holds them back while reports are not fetched, and sends a lost worker's blocks again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from relgate.eval.cluster.grader import Grader
from relgate.eval.cluster.messages import Job, Unit
from relgate.judge.redact import one_line
from relgate.rubrics.errors import PlatformError

__all__ = ["RayPool", "require_ray"]

_BLOCKS_AT_ONCE: Final = 4  # in one worker: while one block ends, the others keep its calls busy
_CPUS: Final = 0.1  # a worker waits for the model; so a lost one finds room on another node
_STORE_BYTES: Final = 256 * 1024 * 1024  # of a cluster of our own: the units of one window
_REACH_S: Final = 10.0
_BEFORE_IMPORT: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no report to Ray's makers of what runs here
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # raylets' lines would go to stdout, among the results
    "RAY_ENABLE_AUTO_CONNECT": "0",  # after the end, no straggler may start a cluster anew
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # the C++ part writes to stderr
}


class BlockGrader:
    """A grader as Ray Data has it: a table of units in, a table with one report out."""

    def __init__(self, job: Job) -> None:
        context = _ray().get_runtime_context()
        self._grader = Grader(job, restarted=bool(context.was_current_actor_reconstructed))

    def __call__(self, block: Any) -> Any:  # noqa: ANN401 - pyarrow.Table
        """Grades one block; called from several threads."""
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        units = [Unit.loaded(each) for each in block["unit"].to_pylist()]
        report = self._grader.report(units).dumped()
        return pa.table({"report": pa.array([report], type=pa.binary())})


def require_ray() -> None:
    """Raises PlatformError where the extra is not installed."""
    if find_spec("ray") is None or find_spec("pyarrow") is None:
        raise PlatformError("--engine ray: the package ray is missing; pip install 'relgate[ray]'")


class RayPool:
    """A cluster to grade on: joined by its address, or one of this machine alone.

    Args:
        address: of a cluster that runs already; None starts one that ends with `close`.
        workers: how many graders; None for one a CPU.
    """

    def __init__(self, address: str | None, workers: int | None) -> None:
        self._address = address
        self._workers = workers
        self._ours = False

    def start(self) -> int:
        """Joins or starts the cluster, once; how many workers to use.

        Raises:
            PlatformError: there is no such cluster, or it is of another version.
        """
        for name, value in _BEFORE_IMPORT.items():
            os.environ.setdefault(name, value)
        ray = _ray()
        if not ray.is_initialized():
            place: dict[str, Any] = {"address": self._address}
            if self._address is None:
                place = {
                    "address": "local",
                    "object_store_memory": _STORE_BYTES,
                    "include_dashboard": False,
                }
            _reach(self._address)
            try:
                with _silent_stderr():  # it says which log level it was told
                    ray.init(log_to_driver=False, logging_level=logging.ERROR, **place)
            except Exception as error:  # noqa: BLE001 - of a node that does not start it is a bare one
                where = "here" if self._address is None else f"at {self._address}"
                said = one_line(f"{type(error).__name__}: {error}")
                raise PlatformError(f"no Ray cluster {where}: {said}") from None
            self._ours = True
        return self._workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def nodes(self) -> frozenset[str]:
        """The nodes that are alive."""
        return frozenset(node["NodeID"] for node in _ray().nodes() if node["Alive"])

    def run(
        self, job: Job, units: Sequence[bytes], *, workers: int, per_block: int
    ) -> Generator[bytes]:
        """Reports on units, as they come, both as they travel.

        Args:
            job: for each worker.
            units: what to grade.
            workers: graders; at most so many are under way.
            per_block: units that travel together.

        Raises:
            PlatformError: Ray gave up.
        """
        data = _ray().data
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what fails is raised here too
        blocks = -(-len(units) // per_block)
        try:
            found = data.from_items(
                [{"unit": unit} for unit in units], override_num_blocks=blocks
            ).map_batches(
                BlockGrader,
                batch_size=None,  # a block is what a worker takes
                batch_format="pyarrow",
                compute=data.ActorPoolStrategy(
                    size=workers,
                    max_concurrent_calls_per_actor=_BLOCKS_AT_ONCE,
                    enable_true_multi_threading=True,
                ),
                num_cpus=_CPUS,
                fn_constructor_args=(job,),
            )
            for table in found.iter_batches(
                batch_size=None, batch_format="pyarrow", prefetch_batches=0
            ):
                yield from table["report"].to_pylist()
        except Exception as error:  # noqa: BLE001 - whatever ended Ray's run, grades that came are kept
            said = one_line(f"{type(error).__name__}: {error}")
            raise PlatformError(f"Ray gave up: {said}; run again: what is graded is kept") from None

    def close(self) -> None:
        """Leaves the cluster, and ends one of our own. May be called twice."""
        if self._ours:
            self._ours = False
            with contextlib.suppress(Exception):
                _ray().shutdown()


def _reach(address: str | None) -> None:
    """Raises PlatformError where nothing listens: Ray itself would wait for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return  # `auto`, and what only Ray understands
    try:
        socket.create_connection((host, int(port)), timeout=_REACH_S).close()
    except (OSError, OverflowError) as error:
        raise PlatformError(f"no Ray cluster at {address}: {error}") from None


@contextlib.contextmanager
def _silent_stderr() -> Generator[None]:
    """Nothing on stderr, from C++ neither; what goes wrong meanwhile is raised, not said."""
    sys.stderr.flush()
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _ray() -> Any:  # noqa: ANN401 - an extra, without types
    import ray  # noqa: PLC0415 - an extra, and slow to load
    import ray.data  # noqa: PLC0415

    return ray
