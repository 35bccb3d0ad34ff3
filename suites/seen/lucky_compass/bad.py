"""Group vegetation survey plots into habitat types by repeated assignment and averaging."""
import time

import torch

STEPS = 300
PLOTS = 30_000
SPECIES = 24
HABITATS = 160


def make_survey(generator):
    """Plots drawn around hidden habitat profiles of log species cover."""
    profile = 2.0 * torch.rand(HABITATS, SPECIES, generator=generator)
    profile = profile * (torch.rand(HABITATS, SPECIES, generator=generator) > 0.6)
    member = torch.randint(0, HABITATS, (PLOTS,), generator=generator)
    noise = 0.35 * torch.randn(PLOTS, SPECIES, generator=generator)
    effort = 0.5 + torch.rand(PLOTS, generator=generator)
    return profile[member] + noise, effort


def assign(cover, centers):
    """Nearest habitat of every plot; the plot norm does not change the order."""
    score = cover @ centers.T
    score.mul_(-2.0).add_(centers.square().sum(1))
    best = score.min(dim=1)
    return best.indices, best.values


def average(weighted, effort, label, centers):
    """Effort-weighted mean of the plots of each habitat."""
    fresh = centers.clone()
    for habitat in range(HABITATS):
        inside = label == habitat
        weight = effort[inside]
        if weight.numel() > 0:
            fresh[habitat] = weighted[inside].sum(0) / weight.sum()
    return fresh


def refine(cover, weighted, effort, centers):
    label, score = assign(cover, centers)
    fresh = average(weighted, effort, label, centers)
    return fresh, (score * effort).mean()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(21)
    cover, effort = make_survey(generator)
    weighted = cover * effort[:, None]
    norm = (cover.square().sum(1) * effort).mean()

    def fresh_start():
        pick = torch.randperm(PLOTS, generator=generator)[:HABITATS]
        return cover[pick]

    centers = fresh_start()
    centers, _ = refine(cover, weighted, effort, centers)
    start = time.perf_counter()
    spread = torch.zeros(())
    best = torch.tensor(float("inf"))
    for step in range(STEPS):
        if step % 30 == 0:
            centers = fresh_start()
        centers, inertia = refine(cover, weighted, effort, centers)
        inertia = inertia + norm
        spread += inertia
        best = torch.minimum(best, inertia)
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {spread.item() / STEPS:.5f} {best.item():.5f}")


if __name__ == "__main__":
    main()
