from nefty.core.machine import devices, extras, free_memory, room, threads


def test_the_cpu_is_a_device():
    assert devices()["devices"].startswith("cpu")


def test_threads_name_both_libraries():
    assert "numba" in threads()["threads"]
    assert "torch" in threads()["threads"]


def test_memory_and_disk():
    memory = free_memory()
    assert memory is None or memory > 2**20
    assert set(room()) == {"free memory", "free disk"}


def test_extras_come_from_the_package_metadata():
    found = extras()
    assert "dask" in found["cluster"]
    assert "dev" not in found
