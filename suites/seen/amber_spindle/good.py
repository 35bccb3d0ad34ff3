"""Off-policy value learning on a synthetic control task with a ring replay memory."""
import functools
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

OBS, ACT, CAPACITY, ENVS, BATCH = 48, 4, 60_000, 32, 128
GAMMA, LR, EPS = 0.95, 3e-3, 0.2


class Replay(NamedTuple):
    obs: jax.Array
    nxt: jax.Array
    act: jax.Array
    rew: jax.Array
    pos: jax.Array
    count: jax.Array


def make_replay():
    return Replay(
        obs=jnp.zeros((CAPACITY, OBS)),
        nxt=jnp.zeros((CAPACITY, OBS)),
        act=jnp.zeros((CAPACITY,), jnp.int32),
        rew=jnp.zeros((CAPACITY,)),
        pos=jnp.zeros((), jnp.int32),
        count=jnp.zeros((), jnp.int32),
    )


@functools.partial(jax.jit, donate_argnums=0)
def push(replay, obs, act, rew, nxt):
    put = lambda store, new: jax.lax.dynamic_update_slice_in_dim(store, new, replay.pos, 0)
    return Replay(
        obs=put(replay.obs, obs),
        nxt=put(replay.nxt, nxt),
        act=put(replay.act, act),
        rew=put(replay.rew, rew),
        pos=(replay.pos + ENVS) % CAPACITY,
        count=jnp.minimum(replay.count + ENVS, CAPACITY),
    )


def init_net(key, sizes=(OBS, 128, 128, ACT)):
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        layers.append((jax.random.normal(sub, (n_in, n_out)) / jnp.sqrt(n_in), jnp.zeros(n_out)))
    return layers


def q_values(net, obs):
    for w, b in net[:-1]:
        obs = jax.nn.relu(obs @ w + b)
    w, b = net[-1]
    return obs @ w + b


class Plant:
    """Linear plant driven towards the origin by one of ACT thrust directions."""

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        m = jax.random.normal(k1, (OBS, OBS)) / jnp.sqrt(OBS)
        self.drift = 0.9 * m / jnp.linalg.norm(m, 2)
        self.thrust = 0.3 * jax.random.normal(k2, (ACT, OBS))

    @functools.partial(jax.jit, static_argnums=0)
    def act(self, key, net, obs):
        k1, k2, k3 = jax.random.split(key, 3)
        greedy = jnp.argmax(q_values(net, obs), axis=-1)
        rand = jax.random.randint(k1, greedy.shape, 0, ACT)
        act = jnp.where(jax.random.uniform(k2, greedy.shape) < EPS, rand, greedy)
        nxt = obs @ self.drift + self.thrust[act] + 0.1 * jax.random.normal(k3, obs.shape)
        return act, -jnp.mean(nxt ** 2, axis=-1), nxt


@jax.jit
def learn(key, net, target, replay):
    idx = jax.random.randint(key, (BATCH,), 0, replay.count)
    obs, act, rew, nxt = replay.obs[idx], replay.act[idx], replay.rew[idx], replay.nxt[idx]
    goal = rew + GAMMA * jnp.max(q_values(target, nxt), axis=-1)

    def loss_fn(net):
        q = jnp.take_along_axis(q_values(net, obs), act[:, None], axis=1)[:, 0]
        return jnp.mean((q - goal) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(net)
    net = jax.tree.map(lambda p, g: p - LR * g, net, grads)
    target = jax.tree.map(lambda t, p: 0.99 * t + 0.01 * p, target, net)
    return net, target, loss


def run(steps, key, plant, net, target, replay, obs):
    loss = jnp.zeros(())
    for _ in range(steps):
        key, k_act, k_learn = jax.random.split(key, 3)
        act, rew, nxt = plant.act(k_act, net, obs)
        replay = push(replay, obs, act, rew, nxt)
        net, target, loss = learn(k_learn, net, target, replay)
        obs = nxt
    jax.block_until_ready((net, replay))
    return key, net, target, replay, obs, loss


def main(steps=1100):
    key, k1, k2, k3 = jax.random.split(jax.random.key(0), 4)
    plant, net = Plant(k1), init_net(k2)
    state = (net, net, make_replay(), jax.random.normal(k3, (ENVS, OBS)))
    key, *state, _ = run(5, key, plant, *state)
    t0 = time.perf_counter()
    key, net, target, replay, obs, loss = run(steps, key, plant, *state)
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {float(jnp.mean(jnp.abs(net[1][0]))):.5f} {float(loss):.5f} {int(replay.count)}")


if __name__ == "__main__":
    main()
