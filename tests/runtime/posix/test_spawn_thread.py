import threading

import pytest

from hawse_runtime.posix.spawn_thread import SpawnThread


def test_all_work_runs_in_the_thread_that_was_prepared() -> None:
    names: list[str] = []
    thread = SpawnThread(lambda: names.append(threading.current_thread().name))
    names += [thread.run(lambda: threading.current_thread().name) for _ in range(3)]
    thread.close()
    assert len(set(names)) == 1
    assert names[0] != threading.current_thread().name


def test_exceptions_of_the_preparation_and_the_work_reach_the_caller() -> None:
    def fail() -> None:
        raise OSError("refused")

    with pytest.raises(OSError, match="refused"):
        SpawnThread(fail)
    thread = SpawnThread(lambda: None)
    with pytest.raises(OSError, match="refused"):
        thread.run(fail)
    assert thread.run(lambda: 1) == 1
    thread.close()
