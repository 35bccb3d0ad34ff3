"""What lays Ridgeline's numbers beside others' is right about both, in small made-up tables; what it runs does what it says."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "suites" / "programs"

sys.path.insert(0, str(ROOT / "proof"))

import busy  # noqa: E402 - found by the path above
import ceilings  # noqa: E402
import command_buffers  # noqa: E402
import context  # noqa: E402
import counters  # noqa: E402
import intervals  # noqa: E402
import kernel_times  # noqa: E402
import ncu  # noqa: E402
import overhead  # noqa: E402
import prove  # noqa: E402

RAW = """==PROF== Connected to process 1
"ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","sm__sass_thread_inst_executed_op_ffma_pred_on.sum","sm__ops_path_tensor_src_fp16.sum","sm__ops_path_tensor_src_fp16_dst_fp32.sum"
"","","ns","byte","byte","inst","op","op"
"0","before_any_mark","9","9","9","9","0","0"
"1","wrapped_popcnt","1,000","0","0","0","0","0"
"2","loop_add_fusion","2,500","2,000,000","1,000,000","500,000","0","0"
"3","wrapped_popcnt","1,000","0","0","0","0","0"
"4","gemm","4,000","4000","n/a","10","2,000","2,000"
"5","splitk_reduce","500","1000","100","0","0","0"
"""


def table(proof):
    """A proof's table as the program prints it, without spaces at the ends of lines."""
    return prove.text(prove.told("", proof)).splitlines()


def test_counters_of_each_operation_lie_between_marks():
    groups = ncu.between_marks(ncu.read_csv(RAW), counters.MARK)
    assert [[launch.kernel for launch in group] for group in groups] == [["loop_add_fusion"], ["gemm", "splitk_reduce"]]
    gemm = groups[1][0]
    assert gemm.total(ncu.DRAM) == 4000  # Writes were not collected: absent, not zero.
    assert gemm.plain_operations() == 20  # A multiply-add is two.
    assert gemm.tensor_operations() == 2000  # The whole, not the whole and its part.


def test_units_that_were_scaled_are_refused():
    with pytest.raises(ValueError, match="'usecond': expected base units"):
        ncu.read_csv(RAW.replace('"ns"', '"usecond"'))
    with pytest.raises(ValueError, match="expected ncu's raw page"):
        ncu.read_csv("==ERROR== no kernels were profiled\n")


def test_only_metrics_that_the_device_has_are_asked_for():
    listed = "Device NVIDIA H200 (GH100)\n---\ndram__bytes_read  Counter  byte  # of bytes read\ngpu__time_duration Counter ns\n"
    assert ncu.collectable(["gpu__time_duration.sum", "dram__bytes_read.sum", "lts__t_bytes.sum"], listed) == [
        "gpu__time_duration.sum", "dram__bytes_read.sum"]


def test_work_and_traffic_stand_beside_counters():
    facts = {
        "add": {"runs": 6, "xla_bytes": 3e6, "xla_flops": 5e5},
        "gemm": {"runs": 6, "xla_bytes": 9e3, "xla_flops": 2e3},
        "fft": {"failed": "XlaRuntimeError: no cuFFT"},
    }
    counts = {
        "jit_kernels_add": {"flops": 6e6, "compulsory_bytes": 18e6, "self_ns": 15_600},
        "jit_kernels_gemm": {"flops": 12_000, "compulsory_bytes": 27_000, "self_ns": 6},
    }
    groups = dict(zip(["add", "gemm"], ncu.between_marks(ncu.read_csv(RAW), counters.MARK), strict=True))
    proof = counters.compared(facts, counts, {"add": (1, 2600.0)}, groups)
    assert table(proof)[1:] == [
        "operation  kernels  time µs  ncu µs  time/ncu   DRAM MB  compulsory MB  XLA MB  compulsory/DRAM  XLA/DRAM  counter MFLOP"
        "  counted MFLOP  XLA MFLOP  counted/counter",
        "add        1        2.6      2.5     1.04       3        3              3       1                1         1            "
        "  1              0.5        1",
        "gemm       2        0.001    4.5     0.0002222  0.0051   0.0045         0.009   0.8824           1.765     0.00202      "
        "  0.002          0.002      0.9901",
        "fft did not run: XlaRuntimeError: no cuFFT",
        "compulsory bytes / DRAM bytes: median 0.941, 1 of 2 within 10%",
        "XLA's bytes / DRAM bytes: median 1.382, 1 of 2 within 10%",
        "counted operations / counters: median 0.995, 2 of 2 within 10%",
        "time / ncu's time: median 0.520, 1 of 2 within 10%",
    ]


def test_a_report_is_read_as_its_page():
    read = {"tables": [{"rows": [{"duration_ns": 8000, "dram_bytes": 3e6}, {"duration_ns": 5000, "dram_bytes": None}]}]}
    assert counters.report_as_read(read, ncu.read_csv(RAW)) == (
        "of the report Ridgeline reads 2 launches, ncu's page has 6; their times differ by 3991 ns, their DRAM bytes by 5118")


def event(row, kind, name, start_ns, dur_ns, *, device="", caused_by=""):
    """A line of `ridgeline export --to csv`."""
    return {"row": str(row), "device": device, "kind": kind, "name": name, "start_ns": str(start_ns), "dur_ns": str(dur_ns),
            "caused_by": str(caused_by), "module": ""}


GPU = "/device:GPU:0"
CAPTURE = [
    event(0, "annotation", "row copy", 1_000_000, 4_000_000),
    event(1, "launch", "cudaLaunchKernel", 1_100_000, 1000),
    event(2, "launch", "cudaLaunchKernel", 1_200_000, 1000),
    event(3, "launch", "cudaLaunchKernel", 9_000_000, 1000),
    event(4, "kernel", "copy", 1_500_000, 1_000_000, device=GPU, caused_by=1),
    event(5, "kernel", "copy", 2_600_000, 1_000_000, device=GPU, caused_by=2),
    event(6, "kernel", "other", 9_500_000, 1_000_000, device=GPU, caused_by=3),
    event(7, "range on a device", "row copy", 1_500_000, 9_000_000, device=GPU, caused_by=1),
    event(8, "annotation", "part 30 %", 0, 10_000_000),
]


def test_a_row_of_launches_spans_its_first_to_its_last_piece_of_work():
    truth = [{"name": "copy", "launches": 2, "ms": 2.106}, {"name": "sum", "launches": 20, "ms": 1.0}]
    assert table(kernel_times.compared(truth, CAPTURE))[1:] == [
        "row   launches  pieces  events ms  capture ms  capture/events  difference per launch µs  pieces' sum ms",
        "copy  2         2       2.106      2.1         0.9972          3                         2",
        "nothing in the capture for: sum",
    ]


def test_busy_time_is_a_union_within_its_part():
    log = "timestamp, utilization.gpu [%], power.draw [W]\n" + "".join(
        f"2026/01/02 03:04:0{second}.000, {percent}, 70\n" for second, percent in ((1, 90), (2, 20), (3, 30), (4, "[N/A]")))
    samples = busy.read_monitor(log)
    begin = samples[0][0] - 0.1
    parts = [{"percent": 30, "begin_s": begin - 1, "end_s": begin + 9}]
    assert table(busy.compared(parts, samples, CAPTURE))[1:] == [
        "part       asked %  nvidia-smi %  samples  capture %  difference",
        "part 30 %  30       25            2        25         0",
    ]


def test_a_union_counts_overlaps_once():
    assert intervals.union_ns([(5, 9), (0, 2), (1, 3), (6, 7), (9, 10)]) == 8
    assert intervals.within([(0, 10), (20, 30)], (5, 22)) == [(5, 10), (20, 22)]
    assert intervals.union_ns([]) == 0


def operations(*rows):
    """An answer of `ridgeline stats --by op`."""
    keys = ("op", "module", "self_ns", "attribution")
    return {"tables": [{"rows": [dict(zip(keys, row, strict=True)) for row in rows]}]}


def test_operations_inside_command_buffers_are_those_outside():
    with_ = operations(("add", "jit_f", 60_000, "module and kernel name"), ("(module known, operation not)", "jit_f", 40_000, "module only"))
    without = operations(("add", "jit_f", 50_000, "stat"), ("dot", "jit_f", 50_000, "stat"), ("(copy)", None, 7, "nothing"))
    proof = command_buffers.compared(with_, {"by_module_ns": 60, "module_only_ns": 40}, without, {"by_stat_ns": 100})
    assert table(proof)[2:] == [
        "all kernels, by stat           –       0        1           –             share of the kernels' time",
        "all kernels, by module         –       0.6      0           –             share of the kernels' time",
        "all kernels, by order          –       0        0           –             share of the kernels' time",
        "all kernels, by launch         –       0        0           –             share of the kernels' time",
        "all kernels, module only       –       0.4      0           –             share of the kernels' time",
        "all kernels, unattributed      –       0        0           –             share of the kernels' time",
        "add                            jit_f   60       50          1.2           module and kernel name",
        "dot                            jit_f   –        50          –             –",
        "(module known, operation not)  jit_f   40       –           –             module only",
        "50.0% of the time is on the same operations in both runs",
    ]


def test_steps_that_warm_up_are_not_counted():
    output = "step 0: 900.0 ms, loss 7\nstep 1: 10.5 ms, loss 7\nstep 2: 2.5 ms, loss 6\nround 3: 3.5 ms per step\nsum 3: 1 ms\n"
    assert overhead.step_times(output) == [2.5, 3.5]


def test_a_sheet_is_found_by_the_driver_s_name():
    sheet = ceilings.sheet_of("NVIDIA H200")
    assert ceilings.stated_by(sheet, "stream_copy", "f32") == 4.8e12
    assert ceilings.stated_by(sheet, "matrix", "bf16") == 989.4e12
    assert ceilings.stated_by(sheet, "launch_interval", None) is None
    with pytest.raises(context.Missing, match="no data sheet for 'Made-up GPU'"):
        ceilings.sheet_of("Made-up GPU")


def test_a_program_that_outlasts_its_time_is_interrupted_and_keeps_what_it_said(tmp_path):
    import time

    told = context.Context("", sys.executable, tmp_path, time.monotonic() + 60)
    endless = "import time\nprint('begun', flush=True)\ntry:\n    time.sleep(60)\nfinally:\n    print('kept', flush=True)"
    finished = told.run([sys.executable, "-c", endless], log=tmp_path / "log", limit_s=2)
    assert finished.status != 0
    assert [line for line in finished.output.splitlines() if line in ("begun", "kept")] == ["begun", "kept"]


@pytest.fixture(scope="module")
def solver():
    pytest.importorskip("jax")
    spec = importlib.util.spec_from_file_location("shallow_water_program", PROGRAMS / "shallow_water.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_solver_covers_the_sphere_keeps_mass_and_converges(solver):
    errors = []
    for n, steps in ((8, 20), (16, 40)):
        grid = solver.make_grid(n)
        assert grid.area.sum() == pytest.approx(4 * 3.141592653589793, rel=1e-12)
        before = solver.steady_flow(grid)
        after = solver.stepper(grid, n, "fori_loop", steps)(before)
        assert solver.mass(grid, after) == pytest.approx(solver.mass(grid, before), rel=1e-12)
        errors.append(solver.depth_error(grid, before, after))
    assert errors[1] < 0.6 * errors[0] < 0.02


def test_both_loops_of_the_solver_give_the_same(solver):
    import numpy as np

    grid = solver.make_grid(8)
    state = solver.steady_flow(grid)
    one, other = (solver.stepper(grid, 8, loop, 5)(state) for loop in ("python", "fori_loop"))
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-9)


def test_every_operation_of_the_suite_runs_as_one_module(tmp_path):
    pytest.importorskip("jax")
    facts = tmp_path / "facts.json"
    command = [sys.executable, ROOT / "proof" / "programs" / "one_by_one.py", ROOT / "suites" / "kernels.py", "--size", "128",
               "--repeats", "1", "--facts", facts]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    told = json.loads(facts.read_text())
    assert {name: told[name] for name in told if "failed" in told[name]} == {}
    assert len(told) > 50
    assert told["add"]["xla_bytes"] == 3 * 128 * 128 * 4


def test_the_transformer_learns():
    pytest.importorskip("jax")
    command = [sys.executable, PROGRAMS / "transformer_jax.py", "--steps", "120", "--layers", "1", "--width", "64", "--length", "16",
               "--batch", "32"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    losses = [float(line.rsplit(" ", 1)[1]) for line in output.splitlines()]
    assert len(losses) == 120
    assert sum(losses[-5:]) / 5 < losses[0] - 0.2
