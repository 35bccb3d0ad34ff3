"""Double DQN on many pendulum-on-cart environments that step as one batch."""
import copy
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(20)

ENVS = 256
BATCH = 1024
CAPACITY = 65_536
STEPS = 550
WARMUP = 20
GAMMA = 0.98


class CartPoles:
    def __init__(self, n, gen):
        self.gen = gen
        self.state = self.fresh(n)
        self.age = torch.zeros(n)

    def fresh(self, n):
        return 0.1 * torch.rand(n, 4, generator=self.gen) - 0.05

    def step(self, action):
        x, v, theta, omega = self.state.unbind(1)
        force = 20.0 * action.float() - 10.0
        sin, cos = theta.sin(), theta.cos()
        temp = (force + 0.05 * omega.square() * sin) / 1.1
        alpha = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos.square() / 1.1))
        acc = temp - 0.05 * alpha * cos / 1.1
        new = torch.stack(
            [x + 0.02 * v, v + 0.02 * acc, theta + 0.02 * omega, omega + 0.02 * alpha], dim=1
        )
        self.age += 1
        done = (new[:, 0].abs() > 2.4) | (new[:, 2].abs() > 0.21)
        over = done | (self.age >= 200)
        self.state = torch.where(over[:, None], self.fresh(len(new)), new)
        self.age.masked_fill_(over, 0.0)
        return new, torch.ones(len(new)), done


class Replay:
    """Ring buffer in preallocated tensors."""

    def __init__(self, capacity):
        self.obs = torch.zeros(capacity, 4)
        self.next = torch.zeros(capacity, 4)
        self.action = torch.zeros(capacity, dtype=torch.long)
        self.reward = torch.zeros(capacity)
        self.alive = torch.zeros(capacity)
        self.capacity, self.head, self.size = capacity, 0, 0

    def add(self, obs, action, reward, new, done):
        n = len(obs)
        part = slice(self.head, self.head + n)
        self.obs[part], self.next[part] = obs, new
        self.action[part], self.reward[part] = action, reward
        self.alive[part] = (~done).float()
        self.head = (self.head + n) % self.capacity
        self.size = min(self.size + n, self.capacity)

    def sample(self, batch, gen):
        i = torch.randint(0, self.size, (batch,), generator=gen)
        return self.obs[i], self.action[i], self.reward[i], self.next[i], self.alive[i]


def make_net():
    return nn.Sequential(
        nn.Linear(4, 192), nn.ReLU(), nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 2)
    )


def learn(net, target, opt, batch):
    obs, action, reward, new, alive = batch
    with torch.no_grad():
        best = net(new).argmax(1, keepdim=True)
        goal = reward + GAMMA * alive * target(new).gather(1, best).squeeze(1)
    value = net(obs).gather(1, action[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.detach()


@torch.no_grad()
def act(net, obs, epsilon, gen):
    greedy = net(obs).argmax(1)
    explore = torch.rand(len(obs), generator=gen) < epsilon
    return torch.where(explore, torch.randint(0, 2, (len(obs),), generator=gen), greedy)


def main():
    gen = torch.Generator().manual_seed(44)
    envs, replay = CartPoles(ENVS, gen), Replay(CAPACITY)
    net = make_net()
    target = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    total = torch.zeros(())
    for k in range(WARMUP + STEPS):
        if k == WARMUP:
            start = time.perf_counter()
        obs = envs.state
        action = act(net, obs, max(0.05, 1.0 - k / 300), gen)
        replay.add(obs, action, *reorder(envs.step(action)))
        total += learn(net, target, opt, replay.sample(BATCH, gen))
        if k % 50 == 0:
            target.load_state_dict(net.state_dict())
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.4f} {envs.age.mean().item():.2f}")


def reorder(result):
    new, reward, done = result
    return reward, new, done


if __name__ == "__main__":
    main()
