"""Double DQN on a small corridor world, with a replay memory."""
import random
import time
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)

Transition = namedtuple("Transition", "state action reward next_state done")
SIZE, ACTIONS, SENSORS = 12, 4, 96


class Corridors:
    """A torus with a goal; the agent sees random sensors of its position."""

    moves = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.sensors = self.rng.normal(size=(SIZE, SIZE, SENSORS)).astype(np.float32)
        self.goal = np.array([3, 8])

    def reset(self):
        self.position = self.rng.integers(0, SIZE, 2)
        self.age = 0
        return self.observe()

    def observe(self):
        noise = 0.05 * self.rng.standard_normal(SENSORS, dtype=np.float32)
        return self.sensors[self.position[0], self.position[1]] + noise

    def step(self, action):
        self.position = (self.position + self.moves[action]) % SIZE
        self.age += 1
        done = bool((self.position == self.goal).all())
        return self.observe(), 1.0 if done else -0.02, done or self.age >= 60


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *items):
        self.memory.append(Transition(*items))

    def sample(self, batch):
        picks = random.sample(self.memory, batch)
        columns = Transition(*zip(*picks))
        state = torch.from_numpy(np.stack(columns.state))
        next_state = torch.from_numpy(np.stack(columns.next_state))
        action = torch.tensor(columns.action)
        reward = torch.tensor(columns.reward)
        done = torch.tensor(columns.done, dtype=torch.float32)
        return state, action, reward, next_state, done


def make_network(hidden=128):
    return nn.Sequential(nn.Linear(SENSORS, hidden), nn.ReLU(),
                         nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, ACTIONS))


class Agent:
    def __init__(self):
        self.online, self.target = make_network(), make_network()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.SGD(self.online.parameters(), lr=0.05)

    def learn(self, batch, discount=0.95, tau=0.01):
        state, action, reward, next_state, done = batch
        value = self.online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.online(next_state).argmax(1, keepdim=True)
            future = self.target(next_state).gather(1, best).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, reward + discount * (1 - done) * future)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.online.parameters()):
                slow.lerp_(fast, tau)
        return loss.detach()


def explore(world, memory, steps, rng, state=None):
    """Random behaviour fills the memory (learning is off-policy)."""
    state = world.reset() if state is None else state
    for _ in range(steps):
        action = int(rng.integers(ACTIONS))
        next_state, reward, done = world.step(action)
        memory.push(state, action, reward, next_state, done)
        state = world.reset() if done else next_state
    return state


def main(steps=600):
    torch.manual_seed(0)
    random.seed(0)
    rng = np.random.default_rng(1)
    world, memory, agent = Corridors(), ReplayMemory(20000), Agent()
    state = explore(world, memory, 4000, rng)
    for _ in range(3):
        agent.learn(memory.sample(256))

    losses = []
    begin = time.perf_counter()
    for _ in range(steps):
        state = explore(world, memory, 4, rng, state)
        losses.append(agent.learn(memory.sample(256)))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.6f} {losses[-50:].mean().item():.6f}")


if __name__ == "__main__":
    main()
