"""Where tasks run."""

from __future__ import annotations

import importlib.util
import os
import signal
import time

import pytest

from nefty.core.cluster.place import Place, connected, slurm_cluster
from nefty.core.errors import InputError
from nefty.core.provenance import usable_cores

# Looked for and not imported: importing dask-jobqueue takes over Ctrl-C, which a test looks at.
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("dask_jobqueue") is None, reason="comes with the extra cluster"
)


def test_no_more_threads_than_cores_and_no_more_processes_than_tasks():
    cores = usable_cores()
    assert Place().processes(tasks=1000) == cores
    assert Place(threads=cores).processes(tasks=1000) == 1
    assert Place(threads=2 * cores).processes(tasks=1000) == 1
    assert Place().processes(tasks=1) == 1
    assert Place(workers=3).processes(tasks=1000) == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scheduler": "tcp://a:1", "slurm": True}, "exclude each other"),
        ({"scheduler": "tcp://a:1", "workers": 2}, "--workers has no meaning with --scheduler"),
        ({"job": {"queue": "cpu"}}, "options of jobs were given without --slurm"),
    ],
)
def test_what_does_not_go_together_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        Place(**values)


@needs_dask
def test_the_slurm_job_asks_for_the_threads_of_a_task():
    ctrl_c = signal.getsignal(signal.SIGINT)
    cluster = slurm_cluster(Place(slurm=True, threads=4, job={"queue": "long", "walltime": "02:00:00"}))
    assert signal.getsignal(signal.SIGINT) == ctrl_c  # importing dask-jobqueue takes it over
    with cluster:
        script = cluster.job_script()
    for line in ("#SBATCH -p long", "#SBATCH --cpus-per-task=4", "#SBATCH -t 02:00:00", "export OMP_NUM_THREADS=4"):
        assert line in script
    assert "--nthreads 1 " in script


@needs_dask
def test_an_option_that_slurm_jobs_do_not_have_is_named():
    with pytest.raises(InputError, match=r"option of a Slurm job='quue' is unknown.*Did you mean 'queue'"):
        slurm_cluster(Place(slurm=True, job={"quue": "long"}))


@needs_dask
def test_ctrl_c_of_the_terminal_does_not_end_workers():
    """Nor those that replace others: Dask would replace them while it closes, and could wait for ever."""
    with connected(Place(workers=1), tasks=1) as client:

        def process() -> int:
            return client.submit(os.getpid, pure=False).result(timeout=60)

        first = process()
        os.kill(first, signal.SIGINT)
        time.sleep(0.5)
        assert process() == first
        os.kill(first, signal.SIGKILL)
        second = process()
        os.kill(second, signal.SIGINT)
        time.sleep(0.5)
        assert process() == second != first
