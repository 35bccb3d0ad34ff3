"""Groups the sounds of birds: k-means on embeddings, with many groups."""

import time

import torch

GROUPS, WIDTH = 400, 32


def embeddings(count):
    centers = torch.randn(GROUPS, WIDTH)
    return centers[torch.randint(0, GROUPS, (count,))] + 0.4 * torch.randn(count, WIDTH)


def nearest(sounds, centers):
    return torch.cdist(sounds, centers).argmin(dim=1)


def means(sounds, group, centers):
    fresh = centers.clone()
    for g in range(len(centers)):
        own = sounds[group == g]
        if len(own) > 0:
            fresh[g] = own.mean(dim=0)
    return fresh


@torch.no_grad()
def iterate(sounds, centers):
    group = nearest(sounds, centers)
    fresh = means(sounds, group, centers)
    return fresh, (fresh - centers).norm(dim=1).mean()


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(5)
    sounds = embeddings(8000)
    centers = sounds[torch.randperm(len(sounds))[:GROUPS]].clone()
    iterate(sounds, centers)
    steps = 12
    start = time.perf_counter()
    for _ in range(steps):
        centers, moved = iterate(sounds, centers)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", centers.square().sum().item(), centers.norm(dim=1).max().item())


if __name__ == "__main__":
    main()
