"""Train a surrogate for barrier option prices on simulated market scenarios."""
import time

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

STEPS = 200
QUOTES = 8192
BATCH = 512
WIDTH = 320
PATHS = 256
DATES = 32


def barrier_price(rng, spot, strike, vol, rate, maturity, barrier):
    """Antithetic Monte Carlo for a down-and-out call, shared normals."""
    normal = rng.standard_normal((PATHS // 2, DATES)).astype(np.float32)
    normal = np.concatenate([normal, -normal])
    price = np.empty(spot.shape[0])
    for low in range(0, spot.shape[0], 512):
        part = slice(low, low + 512)
        step = (maturity[part] / DATES)[:, None, None]
        sigma = vol[part][:, None, None]
        drift = (rate[part][:, None, None] - 0.5 * sigma**2) * step
        growth = np.cumsum(drift + sigma * np.sqrt(step) * normal, axis=-1)
        path = spot[part][:, None, None] * np.exp(growth)
        alive = path.min(axis=-1) > barrier[part][:, None]
        payoff = np.maximum(path[..., -1] - strike[part][:, None], 0.0) * alive
        price[part] = payoff.mean(axis=-1) * np.exp(-rate[part] * maturity[part])
    return price


def make_quotes(seed):
    rng = np.random.default_rng(seed)
    spot = rng.uniform(0.8, 1.2, QUOTES)
    strike = rng.uniform(0.8, 1.2, QUOTES)
    vol = rng.uniform(0.1, 0.5, QUOTES)
    rate = rng.uniform(0.0, 0.06, QUOTES)
    maturity = rng.uniform(0.2, 2.0, QUOTES)
    barrier = rng.uniform(0.5, 0.75, QUOTES)
    price = barrier_price(rng, spot, strike, vol, rate, maturity, barrier)
    inputs = np.stack([spot, strike, vol, rate, maturity, barrier], axis=1)
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    return inputs, price / price.std()


class Surrogate(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(6, WIDTH)
        self.hidden = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.leave = nn.Linear(WIDTH, 1)

    def forward(self, x):
        x = F.relu(self.enter(x))
        for layer in self.hidden:
            x = x + F.relu(layer(x))
        return self.leave(x).squeeze(-1)


def train_step(model, optimizer, inputs, price):
    loss = F.mse_loss(model(inputs), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    inputs, price = make_quotes(11)
    inputs = torch.from_numpy(inputs)
    price = torch.from_numpy(price)
    model = Surrogate().to(inputs.dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=2e-3)

    def batch(step):
        low = (step * BATCH) % QUOTES
        return inputs[low:low + BATCH], price[low:low + BATCH]

    train_step(model, optimizer, *batch(0))
    start = time.perf_counter()
    total = torch.zeros((), dtype=inputs.dtype)
    for step in range(STEPS):
        total += train_step(model, optimizer, *batch(step))
    elapsed = time.perf_counter() - start

    with torch.no_grad():
        fitted = model(inputs)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {fitted.mean().item():.4f} {fitted.std().item():.4f}")


if __name__ == "__main__":
    main()
