"""Shallow water on a cubed sphere: its steps launched one by one from Python, and in one compiled loop."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "programs"))

import shallow_water as solver
from ridgeline.suite import Suite

suite = Suite("shallow_water", sizes=(96, 384))

STEPS = 20


@suite.fixture
def grid(size):
    return solver.make_grid(size)


@suite.fixture
def state(grid):
    return solver.steady_flow(grid)


@suite.fixture
def python_loop(grid, size):
    return solver.stepper(grid, size, "python", STEPS)


@suite.fixture
def compiled_loop(grid, size):
    return solver.stepper(grid, size, "fori_loop", STEPS)


@suite.operation
def steps_from_python(python_loop, state):
    return python_loop(state)


@suite.operation
def steps_in_fori_loop(compiled_loop, state):
    return compiled_loop(state)
