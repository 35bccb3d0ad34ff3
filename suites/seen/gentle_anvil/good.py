"""Velocity-level inverse kinematics for a batch of serial arms."""
import time

import torch
from torch.func import jacfwd, vmap


class Arm:
    """Planar-joint arm with alternating axes (z, y, z, y, ...)."""

    def __init__(self, lengths):
        self.lengths = torch.tensor(lengths, dtype=torch.float64)
        self.n = len(lengths)
        self.unit = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)

    def rotation(self, q, k):
        c, s = torch.cos(q), torch.sin(q)
        zero, one = torch.zeros_like(q), torch.ones_like(q)
        if k % 2 == 0:
            rows = [c, -s, zero, s, c, zero, zero, zero, one]
        else:
            rows = [c, zero, s, zero, one, zero, -s, zero, c]
        return torch.stack(rows, dim=-1).unflatten(-1, (3, 3))

    def tip(self, q):
        frame = torch.eye(3, dtype=q.dtype)
        position = torch.zeros(q.shape[:-1] + (3,), dtype=q.dtype)
        for k in range(self.n):
            frame = frame @ self.rotation(q[..., k], k)
            position = position + self.lengths[k] * (frame @ self.unit)
        return position


class Controller:
    def __init__(self, arm, gain=0.25, damping=0.05):
        self.arm = arm
        self.gain = gain
        self.damping = damping * torch.eye(3, dtype=torch.float64)

    def jacobian(self, q):
        return vmap(jacfwd(self.arm.tip))(q)

    def step(self, q, target):
        error = target - self.arm.tip(q)
        jac = self.jacobian(q)
        gram = jac @ jac.mT + self.damping
        dq = jac.mT @ torch.linalg.solve(gram, error.unsqueeze(-1))
        return q + self.gain * dq.squeeze(-1), error.norm(dim=-1).mean()


def circle_targets(n, phase):
    angle = torch.linspace(0, 6.2832, n, dtype=torch.float64) + phase
    return torch.stack(
        [0.8 + 0.2 * torch.cos(angle), 0.3 * torch.sin(angle), 0.6 + 0.1 * torch.cos(2 * angle)],
        dim=-1,
    )


def main():
    torch.set_num_threads(1)
    arm = Arm([0.3, 0.28, 0.25, 0.22, 0.15, 0.1, 0.08])
    controller = Controller(arm)
    n = 24
    gen = torch.Generator().manual_seed(6)
    q = 0.4 * torch.randn(n, arm.n, generator=gen, dtype=torch.float64)
    for k in range(2):
        q, _ = controller.step(q, circle_targets(n, 0.0))

    steps = 120
    errors = []
    start = time.perf_counter()
    for k in range(steps):
        q, error = controller.step(q, circle_targets(n, 0.05 * k))
        errors.append(error)
    elapsed = time.perf_counter() - start
    errors = torch.stack(errors)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {errors.mean().item():.6f} {errors[-1].item():.6f} {q.abs().mean().item():.6f}")


if __name__ == "__main__":
    main()
