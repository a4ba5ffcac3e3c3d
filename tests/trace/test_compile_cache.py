"""Compiled values are built once, also when several threads ask at the same time."""

import threading

import pytest

from holonomy.trace.compile_cache import CompileCache


def test_threads_that_ask_for_one_key_share_one_build() -> None:
    cache, built, results = CompileCache(), [], []
    begun, release = threading.Event(), threading.Event()

    def build() -> object:
        begun.set()
        release.wait(10)
        built.append(object())
        return built[-1]

    threads = [threading.Thread(target=lambda: results.append(cache.get("slow", build))) for _ in range(4)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    assert cache.get("other", lambda: 7) == 7  # a key of its own does not wait
    release.set()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert results == built * 4
    assert len(cache) == 2


def test_a_remembered_failure_is_raised_again_and_another_is_tried_again() -> None:
    calls: list[str] = []

    def fail(error: Exception) -> None:
        calls.append(str(error))
        raise error

    cache = CompileCache(remembered=KeyError)
    for _ in range(2):
        with pytest.raises(KeyError, match="kept"):
            cache.get(1, lambda: fail(KeyError("kept")))
        with pytest.raises(ValueError, match="tried"):
            cache.get(2, lambda: fail(ValueError("tried")))
    assert calls == ["'kept'", "tried", "tried"]
    cache.clear()
    assert cache.get(1, lambda: "built") == "built"
