"""REINFORCE with a baseline on many small grid-world simulators."""
import time

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)

N_ENVS = 96
VIEW = 9
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


class ForagingEnv:
    """Collect food on a torus; the agent sees a square around itself."""

    def __init__(self, size, rng):
        self.size = size
        self.rng = rng
        self.food = (rng.random((size, size)) < 0.15).astype(np.float32)
        self.pos = rng.integers(0, size, 2)
        self.offsets = np.arange(VIEW) - VIEW // 2

    def observe(self):
        rows = (self.pos[0] + self.offsets) % self.size
        cols = (self.pos[1] + self.offsets) % self.size
        near = self.food[rows[:, None], cols[None, :]]
        trail = np.full_like(near, self.food.mean())
        return np.stack([near, trail])

    def step(self, action):
        self.pos = (self.pos + MOVES[action]) % self.size
        r, c = self.pos
        reward = self.food[r, c] - 0.05
        if self.food[r, c] > 0:
            self.food[r, c] = 0.0
            new = self.rng.integers(0, self.size, 2)
            self.food[new[0], new[1]] = 1.0
        return self.observe(), float(reward)


class Policy(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(2 * VIEW * VIEW, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
        )
        self.actor = nn.Linear(hidden, 4)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.actor(h), validate_args=False), self.critic(h).squeeze(-1)


def rollout(policy, envs, obs, length):
    all_obs, actions, rewards = [], [], []
    for _ in range(length):
        x = torch.from_numpy(np.stack(obs))
        with torch.no_grad():
            dist, _ = policy(x)
            action = dist.sample()
        results = [env.step(a) for env, a in zip(envs, action.tolist())]
        obs = [o for o, _ in results]
        all_obs.append(x)
        actions.append(action)
        rewards.append(torch.tensor([r for _, r in results]))
    return obs, torch.stack(all_obs), torch.stack(actions), torch.stack(rewards)


def returns_to_go(rewards, gamma=0.95):
    out = torch.empty_like(rewards)
    running = torch.zeros(rewards.shape[1])
    for t in reversed(range(rewards.shape[0])):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


def update(policy, optimizer, obs, actions, returns):
    dist, value = policy(obs.flatten(0, 1))
    advantage = (returns.flatten() - value).detach()
    policy_loss = -(dist.log_prob(actions.flatten()) * advantage).mean()
    value_loss = (value - returns.flatten()).square().mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(1)
    rng = np.random.default_rng(7)
    envs = [ForagingEnv(24, rng) for _ in range(N_ENVS)]
    obs = [env.observe() for env in envs]
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4, fused=True)

    n_steps = 40
    losses, collected = [], []
    start = time.perf_counter()
    for _ in range(n_steps):
        obs, seen, actions, rewards = rollout(policy, envs, obs, 16)
        losses.append(update(policy, optimizer, seen, actions, returns_to_go(rewards)))
        collected.append(rewards.sum())
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {torch.stack(losses).sum().item():.5f} {torch.stack(collected).sum().item():.4f}")


if __name__ == "__main__":
    main()
