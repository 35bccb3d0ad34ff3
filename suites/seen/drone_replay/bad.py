"""Q-learning of a drone that finds its way by range readings, with a replay memory."""

import random
import time
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BEAMS = 240
ACTIONS = 5
MEMORY = 4000
BATCH = 128
FIRST = 400
STEPS = 260
GAMMA = 0.97

Transition = namedtuple("Transition", "state action reward next_state done")


class Corridor:
    """A drone between two wavy walls; it is rewarded for keeping to the middle."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.angle = np.linspace(-np.pi, np.pi, BEAMS, dtype=np.float32)
        self.reset()

    def reset(self):
        self.offset = self.rng.uniform(-0.3, 0.3)
        self.heading = self.rng.uniform(-0.2, 0.2)
        self.age = 0
        return self.sense()

    def sense(self):
        direction = np.sin(self.angle + self.heading)
        wall = np.where(direction > 0, 1.0 - self.offset, 1.0 + self.offset)
        reading = wall / (np.abs(direction) + 0.2) + self.rng.normal(0.0, 0.02, BEAMS)
        return reading.astype(np.float32)

    def move(self, action):
        self.heading += 0.1 * (action - ACTIONS // 2)
        self.offset += 0.1 * np.sin(self.heading)
        self.age += 1
        crashed = abs(self.offset) > 0.9
        reward = -5.0 if crashed else 1.0 - self.offset**2
        return self.sense(), reward, crashed or self.age >= 60


class ReplayMemory:
    def __init__(self, capacity):
        self.entries = deque(maxlen=capacity)

    def push(self, *values):
        self.entries.append(Transition(*values))

    def sample(self, count):
        batch = random.sample(self.entries, count)
        state = torch.tensor([t.state for t in batch])
        action = torch.tensor([t.action for t in batch])
        reward = torch.tensor([t.reward for t in batch], dtype=torch.float32)
        next_state = torch.tensor([t.next_state for t in batch])
        done = torch.tensor([t.done for t in batch], dtype=torch.float32)
        return state, action, reward, next_state, done


def make_net():
    return nn.Sequential(nn.Linear(BEAMS, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, ACTIONS))


class Agent:
    def __init__(self):
        self.net, self.target = make_net(), make_net()
        self.target.load_state_dict(self.net.state_dict())
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, state, explore):
        if random.random() < explore:
            return random.randrange(ACTIONS)
        return int(self.net(torch.from_numpy(state)).argmax())

    def learn(self, state, action, reward, next_state, done):
        with torch.no_grad():
            goal = reward + GAMMA * (1.0 - done) * self.target(next_state).amax(dim=1)
        value = self.net(state).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def fly(agent, world, memory, state, explore):
    action = agent.act(state, explore)
    next_state, reward, done = world.move(action)
    memory.push(state, action, reward, next_state, done)
    return world.reset() if done else next_state


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random.seed(1)
    agent, world, memory = Agent(), Corridor(seed=9), ReplayMemory(MEMORY)
    state = world.reset()
    for _ in range(FIRST):
        state = fly(agent, world, memory, state, explore=1.0)

    start = time.perf_counter()
    losses = []
    for step in range(STEPS):
        state = fly(agent, world, memory, state, explore=0.3)
        losses.append(agent.learn(*memory.sample(BATCH)))
        if step % 50 == 49:
            agent.target.load_state_dict(agent.net.state_dict())
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
