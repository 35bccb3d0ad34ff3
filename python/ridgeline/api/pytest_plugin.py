"""Performance in a test suite.

    def test_step(tmp_path, assert_no_regression):
        with ridgeline.record(tmp_path / "run") as recording:
            for _ in range(20):
                step().block_until_ready()
        assert_no_regression(recording.run, "baselines/step", by=0.05)

    @pytest.mark.max_device_time(0.020)
    def test_small():
        step().block_until_ready()
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .run import Run

#: Who compares a run with what it was before: a run or its path, the other side, and by how much it may be slower.
Gate = Callable[..., None]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    line = "max_device_time(seconds, framework=None): record the test; fail if total device work takes longer"
    config.addinivalue_line("markers", line)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Record a test with the marker."""
    marker = item.get_closest_marker("max_device_time")
    if marker is None:
        yield
        return
    from . import record  # noqa: PLC0415 - only where it is asked for

    most = float(marker.args[0])
    folder = Path(item.config._tmp_path_factory.mktemp("ridgeline")) / "run"  # type: ignore[attr-defined]
    recording = record(folder, framework=marker.kwargs.get("framework"))
    block = recording.__enter__()
    try:
        outcome: Any = yield
    finally:
        recording.__exit__(None, None, None)
    if outcome.excinfo is None and (took := device_seconds(block.run)) > most:
        message = f"device work took {took:.6g} s in total (measured), expected at most {most:.6g} s; the capture is in {folder}"
        outcome.force_exception(pytest.fail.Exception(f"{message}\n{block.run.check()}", pytrace=False))


def device_seconds(run: Run) -> float:
    """Total device work of a capture in seconds; 0 if it has none."""
    facts = (fact for section in run.overview["overview"] for fact in section["facts"])
    return sum(fact["value"] for fact in facts if fact["key"] == "device_work_ns") / 1e9


@pytest.fixture
def assert_no_regression() -> Gate:
    """Fail if a run is significantly slower than its baseline, by more than `by` (0.05 is 5%)."""

    def gate(run: Run | str | os.PathLike[str], baseline: Run | str | os.PathLike[str], *, by: float = 0.05, in_doubt: str = "fail") -> None:
        from . import diff  # noqa: PLC0415 - only where it is asked for

        if in_doubt not in ("fail", "pass"):
            raise ValueError(f"expected fail or pass, found {in_doubt!r}")
        found = diff(baseline, run)
        share = found.document["whole"]["share"]
        if found.state == "cannot judge" and in_doubt == "fail":
            pytest.fail(f"inconclusive: it may or may not be slower\n{found}", pytrace=False)
        if found.state == "slower" and share is not None and share > by:
            pytest.fail(f"slower by {100 * share:.3g}%, expected at most {100 * by:.3g}%\n{found}", pytrace=False)

    return gate
