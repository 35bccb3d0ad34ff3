"""Recognizes whales by their flukes: new pictures are compared with those of known animals."""

import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

WHALES, PICTURES, QUERIES, BATCH, SIDE = 40, 6, 3200, 32, 32


class FlukeEncoder(nn.Module):
    """Turns a picture into a vector of unit length."""

    def __init__(self, size=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
            nn.Linear(64 * 16, size),
        )

    def forward(self, pictures):
        return F.normalize(self.layers(pictures), dim=1)


class Matcher:
    """Finds the known whale that is most like each picture."""

    def __init__(self, encoder, gallery, names):
        self.encoder = encoder.eval()
        self.gallery = gallery
        self.names = names

    def similarities(self, queries):
        known = torch.cat([self.encoder(part) for part in self.gallery.split(64)])
        return self.encoder(queries) @ known.T

    @torch.inference_mode()
    def identify(self, queries):
        scores = self.similarities(queries)
        best, nearest = scores.topk(3, dim=1)
        votes = torch.zeros(len(queries), WHALES)
        votes.scatter_add_(1, self.names[nearest], best)
        return votes.argmax(dim=1), best[:, 0]


def make_pictures(patterns, names, generator):
    return patterns[names] + 0.4 * torch.randn((len(names), 1, SIDE, SIDE), generator=generator)


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    patterns = torch.randn((WHALES, 1, SIDE, SIDE), generator=generator)
    names = torch.arange(WHALES).repeat_interleave(PICTURES)
    gallery = make_pictures(patterns, names, generator)
    sought = torch.randint(WHALES, (QUERIES,), generator=generator)
    pictures = make_pictures(patterns, sought, generator)
    encoder = FlukeEncoder()
    Matcher(encoder, gallery, names).identify(pictures[:BATCH])
    start = time.perf_counter()
    matcher = Matcher(encoder, gallery, names)
    found = [matcher.identify(part) for part in pictures.split(BATCH)]
    print(f"{len(found)} steps in {time.perf_counter() - start:.4f} s")
    whales = torch.cat([whale for whale, _ in found])
    likeness = torch.cat([best for _, best in found])
    print("checksum", float((whales == sought).float().mean()), float(likeness.mean()))


if __name__ == "__main__":
    main()
