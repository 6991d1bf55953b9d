"""Where tasks run: worker processes of this machine, a Dask scheduler that is there already, or Slurm jobs."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nefty.core.checks import one_of
from nefty.core.errors import InputError, MissingExtraError, NeftyError
from nefty.core.interrupt import ctrl_c_kept_from_children
from nefty.core.provenance import usable_cores

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10
#: Workers of our own that a task may take down with it before an attempt counts as failed.
DEATHS = 1
MOST_JOBS = 16  # unless --workers says otherwise
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Place:
    """Where to run.

    Args:
        scheduler: address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``; ``None`` for workers of our own.
        slurm: start the workers as Slurm jobs.
        workers: how many processes; as many as the cores allow if not given (at most as many as there are tasks).
        threads: that each task may use.
        job: options of dask-jobqueue's ``SLURMCluster``, such as ``{"walltime": "02:00:00", "queue": "cpu"}``.
    """

    scheduler: str | None = None
    slurm: bool = False
    workers: int | None = None
    threads: int = 1
    job: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.scheduler and self.slurm:
            raise InputError("--scheduler and --slurm exclude each other; the scheduler has its own workers.")
        if self.scheduler and self.workers is not None:
            raise InputError("--workers has no meaning with --scheduler, whose workers are there already.")
        if self.job and not self.slurm:
            raise InputError("options of jobs were given without --slurm.")

    def processes(self, tasks: int) -> int:
        """Worker processes of our own: no more threads than cores, no more processes than tasks."""
        wanted = self.workers or max(1, usable_cores() // self.threads)
        return max(1, min(wanted, tasks))


@contextlib.contextmanager
def connected(place: Place, tasks: int) -> Iterator[Client]:
    """A client of the cluster; workers that were started here are stopped at the end."""
    try:
        import distributed
        from dask import config
    except ImportError:
        raise MissingExtraError(
            "suites and batches run on Dask, which is not installed: pip install nefty[cluster]"
        ) from None
    quiet = {
        "distributed.scheduler.allowed-failures": DEATHS,
        "distributed.worker.memory.terminate": 0.95,
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(THREAD_VARIABLES, place.threads),
        "distributed.admin.log-format": "%(message)s",
    }
    with config.set(quiet), contextlib.ExitStack() as stack:
        if place.scheduler:
            try:
                client = distributed.Client(place.scheduler, timeout=CONNECT_SECONDS)
            except (OSError, ValueError) as error:
                raise NeftyError(
                    f"no Dask scheduler answers at {place.scheduler} ({error}); start one with `dask scheduler`, and "
                    f"workers with `dask worker {place.scheduler} --nthreads 1`."
                ) from None
            stack.enter_context(client)
            try:
                client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            except (TimeoutError, asyncio.TimeoutError):  # one class from Python 3.11 on
                raise NeftyError(
                    f"the Dask scheduler at {place.scheduler} has no workers; start some with "
                    f"`dask worker {place.scheduler} --nthreads 1`."
                ) from None
            yield client
        else:
            with ctrl_c_kept_from_children():  # Dask would replace workers that end while it closes, and wait for ever
                cluster = stack.enter_context(_slurm(place, tasks) if place.slurm else _local(place, tasks))
            yield stack.enter_context(distributed.Client(cluster))


def _local(place: Place, tasks: int) -> Any:
    import logging

    from distributed import LocalCluster

    return LocalCluster(
        n_workers=place.processes(tasks),
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port: two runs at a time are welcome
        silence_logs=logging.CRITICAL,
    )


def _slurm(place: Place, tasks: int) -> Any:
    cluster = slurm_cluster(place)
    cluster.adapt(minimum_jobs=1, maximum_jobs=max(1, min(place.workers or MOST_JOBS, tasks)))  # replaces ended jobs
    return cluster


def slurm_cluster(place: Place) -> Any:
    """A scheduler here whose workers, one per job, are Slurm's; none is submitted yet."""
    ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        from dask_jobqueue.core import Job
        from dask_jobqueue.slurm import SLURMCluster, SLURMJob
    except ImportError:
        raise MissingExtraError("--slurm needs dask-jobqueue: pip install nefty[cluster]") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, ctrl_c)  # importing dask-jobqueue takes it over
    known = {name for job in (Job, SLURMJob) for name in inspect.signature(job.__init__).parameters} - {
        "self",
        "kwargs",
    }
    for name in place.job:
        one_of("option of a Slurm job", name, known)
    options = {"cores": 1, "processes": 1, "job_cpu": place.threads, "memory": "4GB", **place.job}
    prologue = [f"export {name}={place.threads}" for name in THREAD_VARIABLES]
    return SLURMCluster(**options, job_script_prologue=prologue)
