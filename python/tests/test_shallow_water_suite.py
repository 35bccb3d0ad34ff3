"""The parts of the shallow-water suite are the solver's right-hand side, taken apart."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SUITES = Path(__file__).resolve().parents[2] / "suites"


def test_the_parts_make_the_right_hand_side():
    np = pytest.importorskip("numpy")
    pytest.importorskip("jax")
    spec = importlib.util.spec_from_file_location("shallow_water_suite", SUITES / "shallow_water.py")
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    solver = sys.modules["shallow_water"]
    grid = solver.make_grid(8)
    state = solver.steady_flow(grid)
    whole = np.asarray(solver.tendency(grid, state))
    parts = np.asarray(suite.right_hand_side_of_parts(grid, state))
    assert np.abs(whole).max() > 0
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-12 * np.abs(whole).max())
    assert set(suite.suite.parts().values()) == {"right_hand_side"}
