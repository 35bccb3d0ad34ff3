"""A neural ODE learns the damped swing of two coupled springs."""

import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

TIMES = jnp.linspace(0.0, 3.0, 25)
BATCH = 32
BLOCKS = 15


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(4, 4, width_size=32, depth=2, activation=jax.nn.softplus, key=key)

    def __call__(self, t, y, args):
        return self.mlp(y)


class SpringODE(eqx.Module):
    field: Field

    def __init__(self, key):
        self.field = Field(key)

    def __call__(self, y0):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(self.field),
            diffrax.Heun(),
            t0=0.0,
            t1=TIMES[-1],
            dt0=0.125,
            y0=y0,
            saveat=diffrax.SaveAt(ts=TIMES),
            max_steps=32,
        )
        return solution.ys


def make_swings(key, count):
    """Exact solutions by the matrix exponential of the linear system."""
    stiffness = jnp.array([[3.0, -1.0], [-1.0, 2.0]])
    top = jnp.concatenate([jnp.zeros((2, 2)), jnp.eye(2)], axis=1)
    bottom = jnp.concatenate([-stiffness, -0.2 * jnp.eye(2)], axis=1)
    system = jnp.concatenate([top, bottom])
    advance = jax.vmap(lambda t: jax.scipy.linalg.expm(t * system))(TIMES)
    starts = jax.random.normal(key, (count, 4))
    return jnp.einsum("tij,bj->bti", advance, starts)


def loss_fn(model, swings):
    predicted = jax.vmap(model)(swings[:, 0])
    return jnp.mean((predicted - swings) ** 2)


OPTIMIZER = optax.adam(3e-3)


@eqx.filter_jit(donate="all-except-first")
def run_block(swings, model, state, key):
    """Ten updates in one compiled call."""
    dynamic, static = eqx.partition(model, eqx.is_inexact_array)
    key, key_block = jax.random.split(key)

    def update(carry, key):
        dynamic, state = carry
        rows = jax.random.randint(key, (BATCH,), 0, swings.shape[0])
        model = eqx.combine(dynamic, static)
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, swings[rows])
        updates, state = OPTIMIZER.update(grads, state, dynamic)
        return (eqx.apply_updates(dynamic, updates), state), loss

    (dynamic, state), losses = jax.lax.scan(update, (dynamic, state), jax.random.split(key_block, 10))
    return eqx.combine(dynamic, static), state, key, losses


def main():
    key_model, key_data, key_train = jax.random.split(jax.random.PRNGKey(0), 3)
    model = SpringODE(key_model)
    swings = jax.jit(make_swings, static_argnums=1)(key_data, 256)
    state = OPTIMIZER.init(eqx.filter(model, eqx.is_inexact_array))
    model, state, key, losses = run_block(swings, model, state, key_train)
    losses.block_until_ready()

    start = time.perf_counter()
    history = []
    for _ in range(BLOCKS):
        model, state, key, losses = run_block(swings, model, state, key)
        history.append(losses)
    history = jnp.concatenate(history)
    mean = float(history.mean())
    print(f"{BLOCKS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean:.5f} {float(history[-10:].mean()):.5f}")


if __name__ == "__main__":
    main()
