"""Advantage actor-critic on a batch of pixel catch games."""
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.set_num_threads(1)


class CatchGame:
    """A ball falls through a small screen; the paddle moves left, stays or moves right."""

    def __init__(self, size, rng):
        self.size = size
        self.rng = rng
        self.reset()

    def reset(self):
        self.ball = [0, int(self.rng.integers(self.size))]
        self.drift = int(self.rng.integers(-1, 2))
        self.paddle = self.size // 2
        self.previous = np.zeros((self.size, self.size), dtype=np.float32)
        return self.observe()

    def render(self):
        screen = np.zeros((self.size, self.size), dtype=np.float32)
        row, column = self.ball
        screen[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = 1.0
        screen[-2:, max(self.paddle - 2, 0) : self.paddle + 3] = 0.5
        return screen

    def observe(self):
        current = self.render()
        frames = np.stack([self.previous, current])
        self.previous = current
        return frames

    def step(self, action):
        self.paddle = min(max(self.paddle + 2 * (action - 1), 2), self.size - 3)
        self.ball[0] += 2
        self.ball[1] = min(max(self.ball[1] + self.drift, 0), self.size - 1)
        if self.ball[0] < self.size - 2:
            return self.observe(), 0.0, False
        reward = 1.0 if abs(self.ball[1] - self.paddle) <= 2 else -1.0
        return self.reset(), reward, True


class Policy(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 8, 5, stride=3),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(64),
            nn.ReLU(),
        )
        self.actor = nn.Linear(64, 3)
        self.critic = nn.Linear(64, 1)

    def forward(self, frames):
        hidden = self.body(frames)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


def to_batch(observations):
    return torch.tensor(observations)


def rollout(policy, games, observations, horizon):
    frames, actions, rewards, masks = [], [], [], []
    for _ in range(horizon):
        batch = to_batch(observations)
        with torch.no_grad():
            action = Categorical(logits=policy(batch)[0]).sample()
        results = [game.step(a) for game, a in zip(games, action.tolist())]
        observations, reward, done = zip(*results)
        frames.append(batch)
        actions.append(action)
        rewards.append(torch.tensor(reward))
        masks.append(1.0 - torch.tensor(done, dtype=torch.float32))
    return observations, *(torch.stack(x) for x in (frames, actions, rewards, masks))


def returns_from(rewards, masks, bootstrap, discount=0.97):
    returns = []
    for reward, mask in zip(rewards.flip(0), masks.flip(0)):
        bootstrap = reward + discount * mask * bootstrap
        returns.append(bootstrap)
    return torch.stack(returns[::-1])


def update(policy, optimizer, frames, actions, returns):
    logits, values = policy(frames.flatten(0, 1))
    policy_now = Categorical(logits=logits)
    advantage = returns.flatten() - values
    gain = policy_now.log_prob(actions.flatten()) * advantage.detach()
    loss = -gain.mean() + 0.5 * advantage.square().mean() - 0.01 * policy_now.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main(steps=50, n_games=16, size=40, horizon=8):
    torch.manual_seed(91)
    rng = np.random.default_rng(92)
    games = [CatchGame(size, rng) for _ in range(n_games)]
    observations = [game.reset() for game in games]
    policy = Policy(size)
    policy(to_batch(observations))
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)

    losses, score = [], 0.0
    begin = time.perf_counter()
    for _ in range(steps):
        observations, frames, actions, rewards, masks = rollout(policy, games, observations, horizon)
        with torch.no_grad():
            bootstrap = policy(to_batch(observations))[1]
        targets = returns_from(rewards, masks, bootstrap)
        losses.append(update(policy, optimizer, frames, actions, targets))
        score += float(rewards.sum())
    elapsed = time.perf_counter() - begin

    losses = torch.stack(losses)
    print(f"score {score:.0f}, last loss {losses[-1]:.4f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    weight = sum(p.detach().abs().sum() for p in policy.parameters())
    print(f"checksum {losses.sum():.5f} {weight:.4f} {score:.0f}")


if __name__ == "__main__":
    main()
