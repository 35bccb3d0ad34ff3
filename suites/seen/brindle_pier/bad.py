"""Deep Q-learning for a small robot with a laser scanner.

The robot sits in a ring-shaped corridor and sees a noisy scan of 240 rays. It may turn left, turn
right or drive on; driving in the direction of the light gives a reward. Transitions go to
a replay buffer, from which the Q-network is trained with a target network (double DQN).
"""
import random
import time
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

RAYS = 240
ACTIONS = 3
BATCH = 128
STEPS = 220
WARMUP_TRANSITIONS = 1000

Transition = namedtuple("Transition", "obs action reward next_obs done")


class LightCorridor:
    """Heading and position on a ring; the light is at angle zero."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.angles = np.linspace(0, 2 * np.pi, RAYS, endpoint=False)
        self.reset()

    def reset(self):
        self.position, self.heading = self.rng.uniform(0, 2 * np.pi, 2)
        self.t = 0
        return self.scan()

    def scan(self):
        direction = self.position + self.heading
        scan = np.cos(self.angles + direction) + 0.05 * self.rng.standard_normal(RAYS)
        return scan.astype(np.float32)

    def step(self, action):
        if action == 2:
            self.position += 0.1 * np.sin(self.heading)
        else:
            self.heading += 0.2 if action == 1 else -0.2
        self.t += 1
        reward = float(np.cos(self.position)) - 0.05 * (action != 2)
        return self.scan(), reward, self.t >= 100


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(RAYS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, ACTIONS)
        )

    def forward(self, obs):
        return self.layers(obs)


class ReplayBuffer:
    def __init__(self, capacity, seed):
        self.memory = deque(maxlen=capacity)
        self.random = random.Random(seed)

    def push(self, *transition):
        self.memory.append(Transition(*transition))

    def sample(self, batch_size):
        batch = Transition(*zip(*self.random.sample(self.memory, batch_size)))
        obs = torch.tensor(batch.obs, dtype=torch.float32)
        next_obs = torch.tensor(batch.next_obs, dtype=torch.float32)
        action = torch.tensor(batch.action)
        reward = torch.tensor(batch.reward, dtype=torch.float32)
        done = torch.tensor(batch.done, dtype=torch.float32)
        return obs, action, reward, next_obs, done


def learn(q_net, target_net, optimizer, batch, gamma=0.97):
    obs, action, reward, next_obs, done = batch
    with torch.no_grad():
        best = q_net(next_obs).argmax(dim=1, keepdim=True)
        future = target_net(next_obs).gather(1, best).squeeze(1)
        target = reward + gamma * (1 - done) * future
    value = q_net(obs).gather(1, action[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(value, target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    rng = random.Random(4)
    env, buffer = LightCorridor(seed=1), ReplayBuffer(10_000, seed=2)
    q_net, target_net = QNetwork(), QNetwork()
    target_net.load_state_dict(q_net.state_dict())
    optimizer = torch.optim.Adam(q_net.parameters(), lr=5e-4)

    obs = env.reset()
    losses, rewards = [], []
    for step in range(-WARMUP_TRANSITIONS, STEPS + 1):
        if step == 1:  # the first learning step is a warm-up
            start = time.perf_counter()
        action = rng.randrange(ACTIONS)  # off-policy: purely random behaviour
        next_obs, reward, done = env.step(action)
        buffer.push(obs, action, reward, next_obs, done)
        rewards.append(reward)
        obs = env.reset() if done else next_obs
        if step >= 0:
            losses.append(learn(q_net, target_net, optimizer, buffer.sample(BATCH)))
            if step % 50 == 0:
                target_net.load_state_dict(q_net.state_dict())
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-20:].mean():.5f} {np.mean(rewards):.5f}")


if __name__ == "__main__":
    main()
