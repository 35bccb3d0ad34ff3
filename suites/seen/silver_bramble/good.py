"""Double-Q learner on vectorised MountainCar with stacked observations."""
import time
from typing import NamedTuple

import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import rlax

N_ENVS, STACK, BATCH = 32, 24, 128
CAPACITY = 2_048


class Replay(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array
    discount: jax.Array
    next_obs: jax.Array


def empty_replay(obs_dim):
    rows = (CAPACITY, N_ENVS)
    return Replay(
        obs=jnp.zeros(rows + (obs_dim,)),
        action=jnp.zeros(rows, jnp.int32),
        reward=jnp.zeros(rows),
        discount=jnp.zeros(rows),
        next_obs=jnp.zeros(rows + (obs_dim,)),
    )


def _write(replay, slot, item):
    return jax.tree_util.tree_map(lambda buf, x: buf.at[slot].set(x), replay, item)


write = jax.jit(_write, donate_argnums=0)


def init_net(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (a, b)) * jnp.sqrt(2.0 / a), "b": jnp.zeros(b)}
        for k, a, b in zip(keys, sizes[:-1], sizes[1:])
    ]


def q_values(params, obs):
    for layer in params[:-1]:
        obs = jax.nn.relu(obs @ layer["w"] + layer["b"])
    return obs @ params[-1]["w"] + params[-1]["b"]


opt = optax.adam(5e-4)
env, env_params = gymnax.make("MountainCar-v0")


def loss_fn(params, target, batch):
    q = q_values(params, batch.obs)
    select = q_values(params, batch.next_obs)
    value = q_values(target, batch.next_obs)
    td = jax.vmap(rlax.double_q_learning)(
        q, batch.action, batch.reward, batch.discount, value, select)
    return jnp.mean(rlax.huber_loss(td))


@jax.jit
def learn(params, target, opt_state, replay, filled, key):
    k1, k2 = jax.random.split(key)
    row = jax.random.randint(k1, (BATCH,), 0, filled)
    col = jax.random.randint(k2, (BATCH,), 0, N_ENVS)
    batch = jax.tree_util.tree_map(lambda buf: buf[row, col], replay)
    loss, grads = jax.value_and_grad(loss_fn)(params, target, batch)
    updates, opt_state = opt.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, target, 0.01), opt_state, loss


@jax.jit
def act(params, stacked, env_state, key):
    k1, k2, k3 = jax.random.split(key, 3)
    greedy = q_values(params, stacked).argmax(-1)
    random = jax.random.randint(k1, greedy.shape, 0, 3)
    action = jnp.where(jax.random.uniform(k2, greedy.shape) < 0.5, random, greedy)
    obs, env_state, reward, done, *_ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
        jax.random.split(k3, N_ENVS), env_state, action, env_params)
    new = jnp.concatenate([stacked[:, obs.shape[-1]:], obs], -1)
    item = Replay(stacked, action, reward, 1.0 - done.astype(jnp.float32), new)
    return new, env_state, item


def main():
    key = jax.random.PRNGKey(2)
    obs, env_state = jax.vmap(env.reset, in_axes=(0, None))(
        jax.random.split(key, N_ENVS), env_params)
    stacked = jnp.tile(obs, (1, STACK))
    replay = empty_replay(stacked.shape[-1])
    params = init_net(key, [stacked.shape[-1], 256, 256, 3])
    target, opt_state = params, opt.init(params)
    n_steps, losses = 400, []

    for step in range(n_steps + 5):
        if step == 5:
            jax.block_until_ready((params, replay))
            t0 = time.perf_counter()
        k_act, k_learn = jax.random.split(jax.random.fold_in(key, step))
        stacked, env_state, item = act(params, stacked, env_state, k_act)
        replay = write(replay, step % CAPACITY, item)
        filled = min(step + 1, CAPACITY)
        params, target, opt_state, loss = learn(
            params, target, opt_state, replay, filled, k_learn)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    t = time.perf_counter() - t0
    losses = np.asarray(losses)
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {losses.mean():.6f} {float(replay.obs.sum()):.3f}")


if __name__ == "__main__":
    main()
