"""A physics-informed network for the deflection of a loaded membrane.

Solves u_xx + u_yy = f on the unit square with u = 0 on the edge: an equinox
MLP, collocation points drawn anew each step, Adam with a cosine schedule.
"""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

INSIDE, EDGE = 1024, 128
WIDTH, DEPTH = 32, 3
STEPS = 60


class Membrane(eqx.Module):
    net: eqx.nn.MLP
    load: float

    def __init__(self, key, load=1.0):
        self.net = eqx.nn.MLP(6, "scalar", WIDTH, DEPTH, activation=jnp.tanh, key=key)
        self.load = load

    def __call__(self, point):
        """Deflection at (x, y) for four load coefficients."""
        return self.net(point)


def forcing(point):
    x, y, *load = point
    waves = [jnp.sin(jnp.pi * (i + 1) * x) * jnp.sin(jnp.pi * (2 - i % 2) * y) for i in range(4)]
    return sum(a * w for a, w in zip(load, waves))


def laplacian(model, point):
    hessian = jax.hessian(model)(point)
    return hessian[0, 0] + hessian[1, 1]


def residual(model, point):
    return laplacian(model, point) - model.load * forcing(point)


def draw_points(key):
    inside_key, edge_key, side_key = jax.random.split(key, 3)
    inside = jax.random.uniform(inside_key, (INSIDE, 6))
    edge = jax.random.uniform(edge_key, (EDGE, 6))
    side = jax.random.randint(side_key, (EDGE,), 0, 4)
    axis, value = side // 2, (side % 2).astype(jnp.float32)
    edge = edge.at[jnp.arange(EDGE), axis].set(value)
    return inside, edge


def loss_fn(model, inside, edge):
    interior = jax.vmap(residual, in_axes=(None, 0))(model, inside)
    border = jax.vmap(model)(edge)
    return jnp.mean(interior**2) + 20.0 * jnp.mean(border**2)


schedule = optax.cosine_decay_schedule(2e-3, STEPS)
tx = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(schedule))


@eqx.filter_jit
def make_step(model, opt_state, key):
    inside, edge = draw_points(key)
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, inside, edge)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    key = jax.random.key(21)
    model = Membrane(key)
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    keys = jax.random.split(key, STEPS + 2)
    model, opt_state, loss = make_step(model, opt_state, keys[-1])
    model, opt_state, loss = make_step(model, opt_state, keys[-2])
    loss.block_until_ready()
    start = time.perf_counter()
    for i in range(STEPS):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            model, opt_state, loss = make_step(model, opt_state, keys[i])
            loss.block_until_ready()
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    probe = jnp.stack(jnp.meshgrid(*[jnp.linspace(0.1, 0.9, 3)] * 6), -1).reshape(-1, 6)
    print("checksum", float(loss), float(jax.vmap(model)(probe).mean()))


if __name__ == "__main__":
    main()
