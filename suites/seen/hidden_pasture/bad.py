"""Experience replay training of a double Q-network on a noisy cart task."""
import copy
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class CartWorld:
    """Vectorised cart that has to be kept near the origin."""

    def __init__(self, n_envs, n_history, gen):
        self.n = n_envs
        self.gen = gen
        self.pos = torch.zeros(n_envs)
        self.vel = torch.randn(n_envs, generator=gen) * 0.1
        self.history = torch.zeros(n_envs, 2 * n_history)

    def observe(self):
        fresh = torch.stack([self.pos, self.vel], dim=1)
        self.history = torch.cat([self.history[:, 2:], fresh], dim=1)
        return self.history

    def act(self, action):
        push = (action.float() - 1.0) * 0.1
        self.vel = 0.99 * self.vel + push + 0.02 * torch.randn(self.n, generator=self.gen)
        self.pos = self.pos + 0.1 * self.vel
        return torch.exp(-self.pos.square()) - 0.01 * push.abs()


class ReplayMemory:
    def __init__(self, capacity, obs_size):
        self.capacity = capacity
        self.count = 0
        self.obs = torch.zeros(capacity, obs_size)
        self.next_obs = torch.zeros(capacity, obs_size)
        self.action = torch.zeros(capacity, dtype=torch.long)
        self.reward = torch.zeros(capacity)

    def push(self, obs, action, reward, next_obs):
        k = obs.shape[0]
        self.obs = torch.cat([self.obs[k:], obs])
        self.next_obs = torch.cat([self.next_obs[k:], next_obs])
        self.action = torch.cat([self.action[k:], action])
        self.reward = torch.cat([self.reward[k:], reward])
        self.count = min(self.count + k, self.capacity)

    def sample(self, size, gen):
        age = torch.randint(0, self.count, (size,), generator=gen)
        idx = self.capacity - 1 - age
        return self.obs[idx], self.action[idx], self.reward[idx], self.next_obs[idx]


class Agent:
    def __init__(self, obs_size, n_actions, gamma=0.97):
        self.net = nn.Sequential(
            nn.Linear(obs_size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, n_actions)
        )
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.gamma = gamma

    @torch.no_grad()
    def policy(self, obs, epsilon, gen):
        greedy = self.net(obs).argmax(1)
        random = torch.randint(0, 3, greedy.shape, generator=gen)
        explore = torch.rand(greedy.shape, generator=gen) < epsilon
        return torch.where(explore, random, greedy)

    def learn(self, obs, action, reward, next_obs):
        with torch.no_grad():
            best = self.net(next_obs).argmax(1, keepdim=True)
            goal = reward + self.gamma * self.target(next_obs).gather(1, best).squeeze(1)
        value = self.net(obs).gather(1, action[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        torch._foreach_lerp_(list(self.target.parameters()), list(self.net.parameters()), 0.01)
        return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(2)
    world = CartWorld(16, 16, gen)
    memory = ReplayMemory(40_000, 32)
    agent = Agent(32, 3)
    obs = world.observe()

    def interact(obs, k):
        action = agent.policy(obs, max(0.1, math.exp(-k / 200)), gen)
        reward = world.act(action)
        next_obs = world.observe()
        memory.push(obs, action, reward, next_obs)
        return next_obs, agent.learn(*memory.sample(512, gen)), reward.mean()

    for k in range(10):
        obs, _, _ = interact(obs, k)

    steps = 800
    losses, rewards = [], []
    start = time.perf_counter()
    for k in range(steps):
        obs, loss, reward = interact(obs, k)
        losses.append(loss)
        rewards.append(reward)
    elapsed = time.perf_counter() - start
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {torch.stack(losses).mean().item():.6f} {torch.stack(rewards).mean().item():.6f}")


if __name__ == "__main__":
    main()
