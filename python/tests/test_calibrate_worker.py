"""The calibration worker measures every probe or says why not, and its copies work wherever a device is not the host."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]

jax = pytest.importorskip("jax", reason="jax is not installed")


def test_rounds_are_enough_and_of_one_repetition() -> None:
    from ridgeline.calibrate_time import Effort, rounds

    asked = []
    times = rounds(asked.append, Effort(rounds=4, budget_s=0.0, copy_bytes=0, array_bytes=0))
    assert len(times) == 4
    assert asked[:2] == [1, 1] and len(set(asked[2:])) == 1 and asked[2] > 1


def test_rates_and_durations_keep_the_best_and_the_median() -> None:
    from ridgeline.calibrate_measure import duration, rate

    assert rate(6.0, [3.0, 1.0, 2.0], "flop/s") == {
        "unit": "flop/s", "value": 6.0, "median": 3.0, "rounds": 3, "amount": 6.0,
    }  # fmt: skip
    times = duration([3e-6, 1e-6, 2e-6])
    assert (times["unit"], times["rounds"]) == ("ns", 3)
    assert (times["value"], times["median"]) == (pytest.approx(1e3), pytest.approx(2e3))


def test_copies_and_streams_run_on_any_device() -> None:
    """The processor stands in for a device with memory of its own."""
    from ridgeline import calibrate_measure
    from ridgeline.calibrate_time import Effort

    class Apart(calibrate_measure.Device):
        is_cpu = False

    effort = Effort(rounds=1, budget_s=0.0, copy_bytes=1 << 16, array_bytes=1 << 16)
    device = Apart(device=jax.local_devices()[0], effort=effort, array_bytes=1 << 16)
    for what in ("host_to_device", "device_to_host"):
        measured = calibrate_measure._copies(device, what)
        assert [point["bytes"] for point in measured["points"]] == [1 << 12, 1 << 16]
        assert measured["value"] > 0
    for what in ("pinned_to_device", "device_to_pinned"):
        try:
            assert calibrate_measure._copies(device, what)["value"] > 0
        except calibrate_measure.NotHere as reason:
            assert "pinned" in str(reason)
    for what, arrays in (("copy", 2), ("triad", 3)):
        assert calibrate_measure._stream(device, what, arrays)["amount"] == arrays * (1 << 16)


def test_the_compiled_multiply_adds_are_those_that_are_counted() -> None:
    """XLA counts the operations of the compiled loop body: two per link of each chain, and the sums around them."""
    from ridgeline import calibrate_measure as m

    elements = 1 << 10
    x = jax.numpy.ones(elements, jax.numpy.float32)

    def one_pass(x, factor, summand):
        chains = [x] + [x + jax.numpy.float32(number) for number in range(1, m.CHAINS)]
        for _ in range(m.LINKS):
            chains = [chain * factor + summand for chain in chains]
        return sum(chains[1:], chains[0])

    cost = jax.jit(one_pass).lower(x, jax.numpy.float32(0.5), jax.numpy.float32(0.25)).compile().cost_analysis()
    assert cost["flops"] == elements * (2 * m.CHAINS * m.LINKS + 2 * (m.CHAINS - 1))


def test_operations_that_were_joined_are_no_measure_of_their_start() -> None:
    from ridgeline import calibrate_measure as m

    with pytest.raises(m.NotHere, match="expected 100 operations in the compiled function, found 1: XLA joined them"):
        m.started_operations("HloModule f\n\nENTRY %main {\n  %a = f32[4] fusion(%x)\n}\n")


@pytest.fixture(scope="module")
def quick_run() -> list[dict]:
    command = [sys.executable, "-m", "ridgeline.calibrate_worker", "--quick", "--array-bytes", str(1 << 20)]
    environment = os.environ | {"PYTHONPATH": str(PYTHON), "JAX_PLATFORMS": "cpu", "JAX_ENABLE_COMPILATION_CACHE": "false"}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in process.stdout]
    process.stdin.close()
    assert process.wait() == 0
    return lines


def test_every_probe_is_measured_or_says_why_not(quick_run: list[dict]) -> None:
    kinds = [event["event"] for event in quick_run if event["event"] not in ("start", "measured", "missing")]
    assert kinds == ["plan", "environment", "device"]
    ended = [event for event in quick_run if event["event"] in ("measured", "missing")]
    assert len(ended) == quick_run[0]["probes"]
    assert all(event["value"] > 0 for event in ended if event["event"] == "measured")
    (interval,) = [event for event in ended if event["what"] == "operation_interval"]
    assert interval["operations"] >= 100
    missing = {event["what"] for event in ended if event["event"] == "missing"}
    assert missing == {"matrix", "host_to_device", "device_to_host", "pinned_to_device", "device_to_pinned"}
