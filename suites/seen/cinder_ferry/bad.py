"""DQN on a small cart task with Haiku and RLax."""
import collections
import time

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
import rlax

CAPACITY = 250_000
BATCH = 256
PREFILL = 200_000
N_STEPS = 2600
EPSILON = 0.2

Transition = collections.namedtuple("Transition", "obs action reward discount next_obs")


class CartEnv:
    """A point on a rail that has to stay near the middle."""

    n_actions = 3

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.state = self.rng.uniform(-0.5, 0.5, size=2)
        self.t = 0
        return features(self.state)

    def step(self, action):
        self.state = advance(self.state, action, self.rng.normal())
        self.t += 1
        done = abs(self.state[0]) > 1.0 or self.t >= 100
        return features(self.state), float(1.0 - abs(self.state[0])), done


def features(state):
    x, v = state[..., 0], state[..., 1]
    parts = [x, v, x * v, abs(x), np.sin(3 * x), np.cos(3 * x)]
    return np.stack(parts, axis=-1).astype(np.float32)


def advance(state, action, noise):
    x, v = state[..., 0], state[..., 1]
    v = 0.98 * v + 0.05 * (action - 1) + 0.01 * noise
    return np.stack([x + 0.1 * v, v], axis=-1)


class ReplayBuffer:
    def __init__(self, capacity, seed):
        self.buffer = collections.deque(maxlen=capacity)
        self.rng = np.random.default_rng(seed)

    def push(self, obs, action, reward, discount, next_obs):
        self.buffer.append(Transition(obs, action, reward, discount, next_obs))

    def sample(self, batch_size):
        chosen = self.rng.integers(len(self.buffer), size=batch_size)
        batch = [self.buffer[i] for i in chosen]
        obs, action, reward, discount, next_obs = zip(*batch)
        return Transition(
            np.stack(obs),
            np.asarray(action, np.int32),
            np.asarray(reward, np.float32),
            np.asarray(discount, np.float32),
            np.stack(next_obs),
        )


def q_network(obs):
    return hk.nets.MLP([32, 32, CartEnv.n_actions])(obs)


def make_learner(network, optimizer):
    batched_td = jax.vmap(rlax.q_learning)

    def loss_fn(params, target_params, batch):
        q_tm1 = network.apply(params, batch.obs)
        q_t = network.apply(target_params, batch.next_obs)
        td = batched_td(q_tm1, batch.action, batch.reward, batch.discount, q_t)
        return jnp.mean(rlax.huber_loss(td))

    @jax.jit
    def learn(params, target_params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, target_params, batch)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return learn


def load_logged_episodes(replay, n):
    """Random play recorded earlier."""
    rng = np.random.default_rng(1)
    states = np.stack([rng.uniform(-1, 1, n), rng.normal(0, 0.2, n)], axis=-1)
    actions = rng.integers(CartEnv.n_actions, size=n)
    after = advance(states, actions, rng.normal(size=n))
    obs, next_obs = features(states), features(after)
    rewards = 1.0 - np.abs(after[:, 0])
    discounts = np.where(np.abs(after[:, 0]) > 1.0, 0.0, 0.97)
    for i in range(n):
        replay.push(obs[i], actions[i], rewards[i], discounts[i], next_obs[i])


def main():
    env = CartEnv(seed=0)
    replay = ReplayBuffer(CAPACITY, seed=2)
    network = hk.without_apply_rng(hk.transform(q_network))
    optimizer = optax.adam(1e-3)
    learn = make_learner(network, optimizer)
    act = jax.jit(lambda params, obs: jnp.argmax(network.apply(params, obs)))

    load_logged_episodes(replay, PREFILL)
    obs = env.reset()
    params = network.init(jax.random.PRNGKey(0), obs)
    target = params
    opt_state = optimizer.init(params)
    jax.block_until_ready(learn(params, target, opt_state, replay.sample(BATCH)))
    act(params, obs)

    rng = np.random.default_rng(7)
    losses = []
    start = time.perf_counter()
    for i in range(N_STEPS):
        explore = rng.random() < EPSILON
        action = int(rng.integers(env.n_actions)) if explore else int(act(params, obs))
        next_obs, reward, done = env.step(action)
        replay.push(obs, action, reward, 0.0 if done else 0.97, next_obs)
        obs = env.reset() if done else next_obs
        params, opt_state, loss = learn(params, target, opt_state, replay.sample(BATCH))
        losses.append(loss)
        if i % 100 == 99:
            target = params
    jax.block_until_ready(params)
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksum loss={np.mean([float(x) for x in losses]):.4f}")


if __name__ == "__main__":
    main()
