"""Newton-CG for a robust softmax regression on synthetic ballots.

Voters are described by a few dozen features and choose one of several parties.
The weights are found with a truncated Newton method: the Newton system is
solved approximately with conjugate gradients in every outer iteration.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np

N_VOTERS = 5000
N_FEATURES = 40
N_PARTIES = 8
NEWTON_STEPS = 10
CG_ITERATIONS = 25
RIDGE = 1e-2


def make_ballots(seed=0):
    """Features with an intercept, and the party each voter has chosen."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N_VOTERS, N_FEATURES)).astype(np.float32)
    x[:, 0] = 1.0
    weights = rng.normal(size=(N_FEATURES, N_PARTIES)) * 0.5
    utility = x @ weights + rng.gumbel(size=(N_VOTERS, N_PARTIES))
    return jnp.asarray(x), jnp.asarray(utility.argmax(1))


def objective(w, x, choice):
    """Penalised negative log likelihood with a softened tail."""
    logits = x @ w.reshape(N_FEATURES, N_PARTIES)
    log_p = jax.nn.log_softmax(logits)
    nll = -jnp.take_along_axis(log_p, choice[:, None], axis=1)[:, 0]
    robust = 4.0 * jnp.log1p(nll / 4.0)
    return robust.mean() + 0.5 * RIDGE * jnp.sum(w**2)


def conjugate_gradient(matvec, b, iterations):
    """Plain CG from zero, fixed number of iterations."""

    def body(_, state):
        p, r, d, rr = state
        ad = matvec(d)
        curvature = d @ ad
        alpha = jnp.where(curvature > 1e-12, rr / curvature, 0.0)
        p = p + alpha * d
        r = r - alpha * ad
        rr_new = r @ r
        d = r + rr_new / jnp.maximum(rr, 1e-30) * d
        return p, r, d, rr_new

    start = (jnp.zeros_like(b), b, b, b @ b)
    return jax.lax.fori_loop(0, iterations, body, start)[0]


@jax.jit
def newton_step(w, x, choice):
    """One damped Newton step; returns the new weights and the loss before it."""
    loss, gradient = jax.value_and_grad(objective)(w, x, choice)
    _, hessian_product = jax.linearize(lambda u: jax.grad(objective)(u, x, choice), w)

    def damped(v):
        return hessian_product(v) + 0.1 * RIDGE * v

    direction = conjugate_gradient(damped, -gradient, CG_ITERATIONS)

    # choose the best of a few step lengths
    lengths = jnp.array([1.0, 0.5, 0.25, 0.1])
    trial = jax.vmap(lambda s: objective(w + s * direction, x, choice))(lengths)
    return w + lengths[jnp.argmin(trial)] * direction, loss


@jax.jit
def accuracy(w, x, choice):
    """Share of the voters whose party is predicted."""
    logits = x @ w.reshape(N_FEATURES, N_PARTIES)
    return (logits.argmax(1) == choice).mean()


def report(losses, score):
    """Table of the losses, one row per Newton step."""
    rows = [f"step {i:2d}  loss {float(loss):.5f}" for i, loss in enumerate(losses)]
    rows.append(f"accuracy {score:.3f}")
    return "\n".join(rows)


def main():
    x, choice = make_ballots()
    w = jnp.zeros(N_FEATURES * N_PARTIES)

    # warm-up; the result is not used
    jax.block_until_ready(newton_step(w, x, choice))

    start = time.perf_counter()
    losses = []
    for _ in range(NEWTON_STEPS):
        w, loss = newton_step(w, x, choice)
        losses.append(loss)
    jax.block_until_ready(w)
    elapsed = time.perf_counter() - start

    score = float(accuracy(w, x, choice))
    print(report(losses, score))
    print(f"{NEWTON_STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[-1]):.5f} {float(jnp.linalg.norm(w)):.4f} {score:.4f}")


if __name__ == "__main__":
    main()
