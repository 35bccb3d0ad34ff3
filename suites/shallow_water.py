"""Shallow water on a cubed sphere: the parts of its right-hand side, a step, and steps from Python and in one loop.

Each part is timed in a program of its own, on inputs of the same steady flow. In the solver XLA fuses across parts, so the
whole may take less than their sum; how much of the sum each takes says where work on the solver begins.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "programs"))

import jax
import jax.numpy as jnp
import shallow_water as solver
from ridgeline.suite import Suite

suite = Suite("shallow_water", sizes=(96, 384))
suite.ratio("steps_from_python", "steps_in_fori_loop")

STEPS = 20


def sides(ringed):
    """States on the two sides of each edge between rows, then of each between columns."""
    return ((ringed[:, :-1, 1:-1], ringed[:, 1:, 1:-1]), (ringed[:, 1:-1, :-1], ringed[:, 1:-1, 1:]))


def edges(grid):
    """Normals and lengths of the same edges."""
    return (grid.normal_x, grid.length_x[..., None]), (grid.normal_y, grid.length_y[..., None])


def net(across_x, across_y):
    """What flows into each cell over its four edges."""
    return across_x[:, :-1] - across_x[:, 1:] + across_y[:, :, :-1] - across_y[:, :, 1:]


def contravariant_parts(grid, ringed):
    """The components of velocity along the normals of the edges, on both sides."""
    return [
        tuple(jnp.sum(q[..., 1:] * normal, axis=-1, keepdims=True) / q[..., :1] for q in pair)
        for pair, (normal, _) in zip(sides(ringed), edges(grid))
    ]


def divergence_parts(grid, ringed, speeds):
    """What the mean flux of both sides carries into each cell."""
    across = [
        (left * at_left + right * at_right) / 2 * length
        for (left, right), (at_left, at_right), (_, length) in zip(sides(ringed), speeds, edges(grid))
    ]
    return net(*across)


def sat_parts(grid, ringed, speeds):
    """The penalty on the difference of both sides, which couples cells and panels and damps what they disagree in."""
    across = []
    for (left, right), pair, (_, length) in zip(sides(ringed), speeds, edges(grid)):
        fastest = jnp.maximum(
            *(jnp.abs(speed) + jnp.sqrt(solver.GRAVITY * q[..., :1]) for speed, q in zip(pair, (left, right)))
        )
        across.append(-solver.DAMPING * fastest * (right - left) / 2 * length)
    return net(*across)


def gradient_parts(grid, ringed, state):
    """The push of the pressure's gradient."""
    own = solver.GRAVITY / 2 * state[..., :1] ** 2
    pushes = [solver.GRAVITY / 4 * (left[..., :1] ** 2 + right[..., :1] ** 2) for left, right in sides(ringed)]
    walls = [normal * length for normal, length in edges(grid)]
    (x, y), (wall_x, wall_y) = pushes, walls
    return (
        (x[:, :-1] - own) * wall_x[:, :-1] - (x[:, 1:] - own) * wall_x[:, 1:]
        + (y[:, :, :-1] - own) * wall_y[:, :, :-1] - (y[:, :, 1:] - own) * wall_y[:, :, 1:]
    )


def projection_parts(grid, state, change, push):
    """The change per second and area, turned by the rotation and laid onto the sphere."""
    change = change.at[..., 1:].add(push) / (solver.RADIUS * grid.area[..., None])
    up = grid.center
    force = change[..., 1:] - 2 * solver.OMEGA * up[..., 2:] * jnp.cross(up, state[..., 1:])
    force = force - up * jnp.sum(force * up, axis=-1, keepdims=True)
    return jnp.concatenate([change[..., :1], force], axis=-1)


def right_hand_side_of_parts(grid, state):
    """The parts put together: what `solver.tendency` computes."""
    ringed = solver.with_ghosts(grid, state)
    speeds = contravariant_parts(grid, ringed)
    change = divergence_parts(grid, ringed, speeds) + sat_parts(grid, ringed, speeds)
    return projection_parts(grid, state, change, gradient_parts(grid, ringed, state))


@suite.fixture
def grid(size):
    return solver.make_grid(size)


@suite.fixture
def state(grid):
    return solver.steady_flow(grid)


@suite.fixture
def ringed(grid, state):
    return jax.jit(partial(solver.with_ghosts, grid))(state)


@suite.fixture
def speeds(grid, ringed):
    return jax.jit(partial(contravariant_parts, grid))(ringed)


@suite.fixture
def change(grid, ringed, speeds):
    return jax.jit(lambda q, s: divergence_parts(grid, q, s) + sat_parts(grid, q, s))(ringed, speeds)


@suite.fixture
def push(grid, ringed, state):
    return jax.jit(partial(gradient_parts, grid))(ringed, state)


@suite.fixture
def programs(grid, size):
    """Each operation as a compiled function, made once."""
    made = {
        "exchange": partial(solver.with_ghosts, grid),
        "gradient": partial(gradient_parts, grid),
        "contravariant": partial(contravariant_parts, grid),
        "divergence": partial(divergence_parts, grid),
        "sat": partial(sat_parts, grid),
        "projection": partial(projection_parts, grid),
        "right_hand_side": partial(solver.tendency, grid),
        "runge_kutta_step": partial(solver.step, grid, solver.stable_step(size)),
    }
    return {name: jax.jit(function) for name, function in made.items()}


@suite.operation(part_of="right_hand_side")
def exchange(programs, state):
    return programs["exchange"](state)


@suite.operation(part_of="right_hand_side")
def gradient(programs, ringed, state):
    return programs["gradient"](ringed, state)


@suite.operation(part_of="right_hand_side")
def contravariant(programs, ringed):
    return programs["contravariant"](ringed)


@suite.operation(part_of="right_hand_side")
def divergence(programs, ringed, speeds):
    return programs["divergence"](ringed, speeds)


@suite.operation(part_of="right_hand_side")
def sat(programs, ringed, speeds):
    return programs["sat"](ringed, speeds)


@suite.operation(part_of="right_hand_side")
def projection(programs, state, change, push):
    return programs["projection"](state, change, push)


@suite.operation
def right_hand_side(programs, state):
    return programs["right_hand_side"](state)


@suite.operation
def runge_kutta_step(programs, state):
    return programs["runge_kutta_step"](state)


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
