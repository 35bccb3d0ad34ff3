"""Suites are declared, selected and resolved as their documentation says. Needs no JAX."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ridgeline.bench_measure import LONGEST_REASON, shortened, summary
from ridgeline.suite import FixtureError, Inputs, Suite, SuiteError, load_suite

SUITES = Path(__file__).resolve().parents[2] / "suites"


def small_suite():
    suite = Suite("small", sizes=(2, 4))

    @suite.fixture
    def ones(size):
        return [1] * size

    @suite.fixture(families=("left", "right"))
    def side(family, ones):
        return family, len(ones)

    @suite.operation(families=("left", "right"))
    def look(side, ones):
        return side

    @suite.operation
    def plain(left_side):
        return left_side

    return suite


def call(suite, name, size=2):
    declared = suite.operations[name]
    return declared.function(**Inputs(suite, size).arguments(declared))


def test_families_make_one_operation_each_and_see_their_own_fixtures():
    suite = small_suite()
    assert list(suite.operations) == ["left_look", "right_look", "plain"]
    assert call(suite, "left_look") == ("left", 2)
    assert call(suite, "right_look", size=4) == ("right", 4)
    assert call(suite, "plain") == ("left", 2)


def test_a_fixture_is_made_once_per_size():
    suite = Suite("s")
    made = []

    @suite.fixture
    def thing(size):
        made.append(size)
        return size

    @suite.operation
    def first(thing):
        return thing

    @suite.operation
    def second(thing):
        return thing

    inputs = Inputs(suite, 8)
    for name in ("first", "second", "first"):
        inputs.arguments(suite.operations[name])
    assert made == [8]


def test_a_failed_fixture_fails_every_operation_that_needs_it_and_is_not_tried_again():
    suite = Suite("s")
    tries = []

    @suite.fixture
    def broken():
        tries.append(1)
        raise ValueError("no such phantom")

    @suite.fixture
    def outer(broken):
        return broken

    @suite.operation
    def use(outer):
        return outer

    inputs = Inputs(suite, 8)
    for _ in range(2):
        with pytest.raises(FixtureError, match="fixture 'broken': ValueError: no such phantom"):
            inputs.arguments(suite.operations["use"])
    assert tries == [1]


def test_selection_keeps_the_suites_order_and_refuses_a_pattern_that_matches_nothing():
    suite = small_suite()
    assert suite.select(["plain", "left_*"]) == ["left_look", "plain"]
    assert suite.select() == ["left_look", "right_look", "plain"]
    with pytest.raises(SuiteError, match="no operation of suite 'small' matches 'rihgt_\\*'"):
        suite.select(["left_*", "rihgt_*"])


def test_names_may_not_repeat():
    suite = small_suite()
    with pytest.raises(SuiteError, match="'plain' is declared twice"):
        suite.operation(lambda: None, name="plain")
    suite.variant("v", env={"A": "1"})
    with pytest.raises(SuiteError, match="variant 'v' is declared twice"):
        suite.variant("v", env={})


def test_an_unknown_fixture_and_a_cycle_are_named():
    suite = Suite("s")
    suite.fixture(lambda b: b, name="a")
    suite.fixture(lambda a: a, name="b")
    suite.operation(lambda a: a, name="cycle")
    suite.operation(lambda nothing: nothing, name="unknown")
    inputs = Inputs(suite, 1)
    with pytest.raises(SuiteError, match="fixtures need each other: a -> b -> a"):
        inputs.arguments(suite.operations["cycle"])
    with pytest.raises(SuiteError, match="no fixture is named 'nothing'"):
        inputs.arguments(suite.operations["unknown"])


@pytest.mark.parametrize("text", ["", "from ridgeline.suite import Suite\na, b = Suite('a'), Suite('b')\n"])
def test_a_suite_file_holds_exactly_one_suite(tmp_path, text):
    path = tmp_path / "suite.py"
    path.write_text(text)
    with pytest.raises(SuiteError, match="expected one Suite in the file, found [02]"):
        load_suite(path)


def test_the_summary_says_what_its_names_say():
    assert summary([]) == {"runs": 0, "min_s": None, "median_s": None, "max_s": None, "spread_s": None}
    assert summary([3.0]) == {"runs": 1, "min_s": 3.0, "median_s": 3.0, "max_s": 3.0, "spread_s": 0.0}
    assert summary([5.0, 1.0, 2.0, 4.0, 3.0]) == {"runs": 5, "min_s": 1.0, "median_s": 3.0, "max_s": 5.0, "spread_s": 1.0}


def test_a_reason_is_one_line_of_bounded_length_without_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert shortened("cannot open /home/somebody/x\n  at all") == "cannot open ~/x at all"
    assert len(shortened("x" * 5000)) == LONGEST_REASON


def test_the_mbirjax_suite_covers_every_operation():
    pytest.importorskip("mbirjax")
    suite = load_suite(SUITES / "mbirjax.py")
    both = [
        "forward_project", "back_project", "sparse_forward_project", "sparse_back_project", "hessian_diagonal",
        "direct_filter", "direct_recon", "mbir_recon", "prox_map",
    ]  # fmt: skip
    expected = [f"{beam}_{name}" for beam in ("parallel", "cone") for name in both]
    expected += ["parallel_fbp_recon", "parallel_fbp_filter", "cone_fdk_recon", "cone_fdk_filter"]
    expected += ["gen_weights", "gen_weights_mar", "denoise", "median_filter3d"]
    expected += ["gen_pixel_partition", "gen_pixel_partition_grid", "gen_pixel_partition_blue_noise"]
    assert sorted(suite.operations) == sorted(expected)
    assert suite.sizes == (32, 64, 128, 256)
    assert suite.variants["no_pallas"] == {"MBIRJAX_DISABLE_PALLAS": "1"}


def test_the_example_of_the_suites_page_is_a_suite(tmp_path):
    pytest.importorskip("jax")
    page = (SUITES / "README.md").read_text()
    path = tmp_path / "blur.py"
    path.write_text(page.split("```python\n")[1].split("```")[0])
    suite = load_suite(path)
    assert call(suite, "blur", size=4).shape == (4, 4)
    assert list(suite.variants) == ["full_precision"]
