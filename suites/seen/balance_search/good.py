"""Random search for a swing-up: linear policies for the pendulum of gymnax, one at a time."""

import time

import gymnax
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 200
FEATURES = 8
SIGMA = 0.3


@jax.jit
def policy(weights, observation):
    """Torque from a linear map of simple features of the observation."""
    cos, sin, speed = observation
    features = jnp.stack(
        [cos, sin, speed, cos * sin, cos * speed, sin * speed, speed**2 / 8.0, jnp.ones_like(cos)]
    )
    return 2.0 * jnp.tanh(weights @ features)[None]


class Arena:
    """The environment and its parameters, with the evaluation of a policy."""

    def __init__(self, name="Pendulum-v1"):
        self.env, self.params = gymnax.make(name)
        self.evaluate = jax.jit(self._evaluate)

    def _evaluate(self, weights, key):
        """Return of one episode of STEPS steps."""
        key_reset, key_steps = jax.random.split(key)
        observation, state = self.env.reset(key_reset, self.params)

        def step(carry, key_step):
            observation, state, running = carry
            action = policy(weights, observation)
            observation, state, reward, terminated, truncated, _ = self.env.step(
                key_step, state, action, self.params
            )
            still = running & ~(terminated | truncated)
            return (observation, state, still), jnp.where(running, reward, 0.0)

        carry = (observation, state, jnp.bool_(True))
        _, rewards = jax.lax.scan(step, carry, jax.random.split(key_steps, STEPS))
        return rewards.sum()


def search(arena, candidates, key, rng):
    """Keeps the best weights and looks around them; later looks are closer."""
    best, best_return = np.zeros(FEATURES, np.float32), -np.inf
    returns = []
    for number, key_episode in enumerate(jax.random.split(key, candidates)):
        spread = SIGMA / (1.0 + 0.05 * number)
        weights = best + spread * rng.normal(size=FEATURES).astype(np.float32)
        value = float(arena.evaluate(jnp.asarray(weights), key_episode))
        returns.append(value)
        if value > best_return:
            best, best_return = weights, value
    return best, np.array(returns)


def main():
    arena = Arena()
    arena.evaluate(jnp.zeros(FEATURES), jax.random.PRNGKey(0))

    start = time.perf_counter()
    best, returns = search(arena, 30, jax.random.PRNGKey(1), np.random.default_rng(0))
    print(f"{len(returns)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {returns.mean():.4f} {returns.max():.4f}")


if __name__ == "__main__":
    main()
