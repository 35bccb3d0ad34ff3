"""The Python package on captures of the repository; skipped where the extension module is not built."""

from __future__ import annotations

import importlib.util
import inspect
import re
import threading
from pathlib import Path

import pytest

import ridgeline

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
H100 = FIXTURES / "real/kineto/h100_qwen15_0.5b_infer.json.gz"
LOADER = FIXTURES / "real/torch_cpu/mlp_loader.json.gz"
STEPS = FIXTURES / "real/xplane/nvidia_like.xplane.pb"

native = pytest.importorskip("ridgeline._native", reason="the extension module is not built")


@pytest.fixture(autouse=True)
def package_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the processes that tests start."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))


@pytest.fixture(scope="module")
def run() -> ridgeline.Run:
    return ridgeline.open(H100)


def test_findings_are_those_of_check(run: ridgeline.Run) -> None:
    causes = run.check().causes
    assert [cause.rule for cause in causes] == ["unfused-eager"]
    assert causes[0].share == pytest.approx(0.226, abs=0.001)
    assert causes[0].saving is not None and causes[0].saving.low_ns <= causes[0].saving.high_ns
    assert run.findings == run.check().findings
    assert "unfused-eager" in str(run.check()) and "unfused-eager" in run.check()._repr_html_()
    assert [finding.rule for finding in ridgeline.open(LOADER).check(select=["data-loading"])] == ["data-loading"]


def test_earlier_names_still_work(run: ridgeline.Run) -> None:
    cause, double = run.check().causes[0], ridgeline.change.faster("*gemm*", 2)
    assert cause.holds_share == cause.share and cause.evidence[0].says == cause.evidence[0].text
    assert run.what_if(double, device="h200").document == run.what_if(double, target="h200").document
    assert run.guide(meant_for="h200").document == run.guide(target="h200").document


def test_tables_by_name(run: ridgeline.Run) -> None:
    table = run.tables["kernel"]
    assert (len(table), table.name) == (52, "kernel")
    meant = {column.name: (column.unit, column.basis) for column in table.columns}
    assert meant["self_ns"] == ("ns", "measured")
    assert table.rows(1)[0]["self_ns"] == 4015501
    assert run.tables["memory/allocator"].name == "memory_allocators"
    assert "kernel" in run.tables and "time/nothing" not in run.tables
    assert "<table>" in table._repr_html_()
    with pytest.raises(ridgeline.UnknownNameError) as raised:
        run.tables["nothing"]
    assert isinstance(raised.value, KeyError) and "kernel" in str(raised.value)


def test_arrow_takes_a_table_with_what_its_columns_mean(run: ridgeline.Run) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(run.tables["kernel"])
    assert table.num_rows == 52
    assert table.schema.field("self_ns").metadata[b"basis"] == b"measured"
    assert table.schema.metadata[b"name"] == b"kernel"
    assert sum(table["self_ns"].to_pylist()) == sum(row["self_ns"] for row in run.tables["kernel"].rows())


def test_a_table_outlives_its_run() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    tables = [pyarrow.table(ridgeline.open(STEPS).tables["op"]) for _ in range(3)]
    assert len({table["op"].to_pylist()[0] for table in tables}) == 1


def test_what_if_and_its_refusal(run: ridgeline.Run) -> None:
    answer = run.what_if(ridgeline.change.faster("*gemm*", 2))
    assert answer.facts["saves"] == "cannot tell: only one step is marked"
    assert "saving_low_ns" not in answer.facts
    with pytest.raises(ridgeline.BadInputError):
        run.what_if(ridgeline.change.faster("*", float("nan")))


def test_diff_takes_runs_and_paths(run: ridgeline.Run) -> None:
    found = run.diff(ridgeline.open(H100))
    assert found.document["whole"]["share"] == 0
    assert found.state == ridgeline.diff(H100, [H100]).state == "cannot judge"


def test_guide_and_explain(run: ridgeline.Run) -> None:
    stages = run.guide().document["stages"]
    assert [stage["state"] for stage in stages][:2] == ["answered", "answered"]
    assert "DataLoader" in ridgeline.explain("data-loading")
    with pytest.raises(ridgeline.BadInputError):
        ridgeline.explain("nothing")


def test_errors_are_exceptions_with_advice(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        ridgeline.open(tmp_path / "nowhere")
    assert isinstance(raised.value, ridgeline.NotFoundError)
    (tmp_path / "text.txt").write_text("no capture\n")
    with pytest.raises(ridgeline.NotACaptureError):
        ridgeline.open(tmp_path / "text.txt")
    with pytest.raises(ridgeline.BadInputError, match="rule"):
        ridgeline.open(STEPS).check(select=["no-such-rule"])


def test_the_page_needs_no_network(run: ridgeline.Run) -> None:
    page = run.timeline(max_bytes=2_000_000)
    assert page.html.startswith("<!doctype html>") or page.html.startswith("<!DOCTYPE html>")
    assert len(page.html) <= 2_000_000
    assert not re.search(r"""(?:src|href)=["']https?:""", page.html)
    shown = run._repr_html_()
    assert 'sandbox="allow-scripts"' in shown and "unfused-eager" in shown
    with pytest.raises(ridgeline.BadInputError, match="unknown view `nothing` of the page"):
        run.page("nothing")


def test_other_threads_run_while_a_capture_is_read() -> None:
    begun, counted = threading.Event(), 0

    def count() -> None:
        nonlocal counted
        begun.set()
        while not ended.is_set():
            counted += 1

    ended = threading.Event()
    counter = threading.Thread(target=count)
    counter.start()
    begun.wait()
    before = counted
    ridgeline.open(H100).check()
    during = counted - before
    ended.set()
    counter.join()
    # One that is kept waiting gets a turn before and after at most; this one counts as long as the capture is read.
    assert during > 1000


def test_the_stubs_name_what_the_module_has() -> None:
    stubs = (ROOT / "python/ridgeline/_native.pyi").read_text()
    for owner, members in {"": vars(native), "Capture": vars(native.Capture), "Table": vars(native.Table)}.items():
        public = {name for name, value in members.items() if not name.startswith("_") and not inspect.ismodule(value)}
        body = re.search(rf"^class {owner}:\n((?:    .*\n|\n)+)", stubs, re.MULTILINE)[1] if owner else stubs
        indent = "    " if owner else ""
        named = set(re.findall(rf"^{indent}(?:def|class) ([a-z]\w*|[A-Z]\w*)", body, re.MULTILINE))
        assert {name for name in named if not name.startswith("_")} == public


def test_the_marker_records_a_test_and_fails_where_devices_work_too_long(pytester: pytest.Pytester) -> None:
    # It is not imported here: what a test with `pytester` imports is taken out again, and jaxlib cannot be loaded twice.
    if importlib.util.find_spec("jax") is None:
        pytest.skip("no jax")
    pytester.makepyfile(
        """
        import pytest
        jax = pytest.importorskip("jax")

        def work():
            jax.numpy.dot(jax.numpy.ones((256, 256)), jax.numpy.ones((256, 256))).block_until_ready()

        @pytest.mark.max_device_time(60)
        def test_enough(): work()

        @pytest.mark.max_device_time(0)
        def test_too_little(): work()
        """
    )
    result = pytester.runpytest_subprocess("-p", "ridgeline.api.pytest_plugin")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*device work took * s in total (measured), expected at most 0 s*"])


def test_a_regression_is_judged_by_diff(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        RUN = {str(H100)!r}

        def test_in_doubt_it_fails(assert_no_regression): assert_no_regression(RUN, RUN)

        def test_unless_that_is_let_pass(assert_no_regression): assert_no_regression(RUN, RUN, in_doubt="pass")
        """
    )
    result = pytester.runpytest_subprocess("-p", "ridgeline.api.pytest_plugin")
    result.assert_outcomes(passed=1, failed=1)


def test_a_block_is_recorded_and_opened(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    with ridgeline.record(tmp_path / "run", framework="jax") as recording:
        jax.numpy.dot(jax.numpy.ones((128, 128)), jax.numpy.ones((128, 128))).block_until_ready()
    assert len(recording.run.tables["op"]) > 0
    with pytest.raises(ridgeline.RecordError, match="empty"), ridgeline.record(tmp_path / "run"):
        pass


def test_a_region_may_have_the_functions_own_name() -> None:
    @ridgeline.region
    def smooth(value: float) -> float:
        return value

    assert (smooth.name, smooth(3.0)) == ("smooth", 3.0)
