"""Deep ensemble for a noisy regression: all members train together with torch.func."""
import math
import time

import torch
import torch.nn as nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.set_num_threads(1)
torch.manual_seed(0)

MEMBERS = 8
BATCH = 512
STEPS = 350
WARMUP = 5
POINTS = 8192
LR = 2e-3


def make_net():
    return nn.Sequential(
        nn.Linear(4, 128),
        nn.SiLU(),
        nn.Linear(128, 128),
        nn.SiLU(),
        nn.Linear(128, 2),
    )


def make_data(gen):
    x = 2.0 * torch.rand(POINTS, 4, generator=gen) - 1.0
    clean = torch.sin(3.0 * x[:, 0]) * x[:, 1] + x[:, 2].square() - 0.3 * x[:, 3]
    scale = 0.05 + 0.15 * (x[:, 0] > 0).float()
    return x, clean + scale * torch.randn(POINTS, generator=gen)


def gaussian_nll(out, y):
    mean, log_var = out[:, 0], out[:, 1].clamp(-8.0, 4.0)
    return 0.5 * (log_var + (y - mean).square() * torch.exp(-log_var)).mean()


class Adam:
    """Adam on a dictionary of stacked parameters."""

    def __init__(self, params, lr, b1=0.9, b2=0.99):
        self.lr, self.b1, self.b2, self.count = lr, b1, b2, 0
        self.m = [torch.zeros_like(p) for p in params.values()]
        self.v = [torch.zeros_like(p) for p in params.values()]

    def update(self, params, grads):
        self.count += 1
        ps, gs = list(params.values()), list(grads.values())
        torch._foreach_lerp_(self.m, gs, 1.0 - self.b1)
        torch._foreach_mul_(self.v, self.b2)
        torch._foreach_addcmul_(self.v, gs, gs, 1.0 - self.b2)
        correction = math.sqrt(1.0 - self.b2 ** self.count) / (1.0 - self.b1 ** self.count)
        denominator = torch._foreach_sqrt(self.v)
        torch._foreach_add_(denominator, 1e-8)
        torch._foreach_addcdiv_(ps, self.m, denominator, -self.lr * correction)


def main():
    gen = torch.Generator().manual_seed(41)
    x, y = make_data(gen)
    nets = [make_net() for _ in range(MEMBERS)]
    params, buffers = stack_module_state(nets)
    params = {k: p.detach() for k, p in params.items()}
    skeleton = nets[0]

    def loss_fn(p, b, xb, yb):
        return gaussian_nll(functional_call(skeleton, (p, b), (xb,)), yb)

    step_all = vmap(grad_and_value(loss_fn), in_dims=(0, 0, 0, 0))
    opt = Adam(params, LR)

    def train_step():
        idx = torch.randint(0, POINTS, (MEMBERS, BATCH), generator=gen)
        grads, losses = step_all(params, buffers, x[idx], y[idx])
        opt.update(params, grads)
        return losses

    for _ in range(WARMUP):
        train_step()
    total = torch.zeros(MEMBERS)
    start = time.perf_counter()
    for _ in range(STEPS):
        total += train_step()
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")

    with torch.inference_mode():
        predict = vmap(lambda p, b: functional_call(skeleton, (p, b), (x[:1024],)))
        means = predict(params, buffers)[..., 0]
    spread = means.std(0).mean().item()
    print(f"checksum {total.mean().item() / STEPS:.4f} {spread:.4f}")


if __name__ == "__main__":
    main()
