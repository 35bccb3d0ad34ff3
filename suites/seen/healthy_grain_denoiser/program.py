"""Takes the grain out of old film with a convolutional network."""

import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

FRAMES, SIDE, BATCH, STEPS = 64, 96, 8, 8


class Denoiser(nn.Module):
    """Predicts the grain of a frame, so that it can be taken off."""

    def __init__(self, width=32, depth=4):
        super().__init__()
        layers = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU(inplace=True)]
        for _ in range(depth):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, frames):
        return frames - self.layers(frames)


def make_frames(generator):
    """Smooth scenes: random fields that were blurred."""
    coarse = torch.randn((FRAMES, 1, 12, 12), generator=generator)
    return F.interpolate(coarse, size=(SIDE, SIDE), mode="bicubic", align_corners=False)


def train_step(model, optimizer, clean, generator):
    optimizer.zero_grad(set_to_none=True)
    grainy = clean + 0.3 * torch.randn(clean.shape, generator=generator)
    loss = F.mse_loss(model(grainy), clean)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.inference_mode()
def quality(model, clean, generator):
    """Peak signal to noise ratio, in decibels."""
    grainy = clean + 0.3 * torch.randn(clean.shape, generator=generator)
    error = F.mse_loss(model(grainy), clean)
    return 10.0 * torch.log10(clean.abs().max().square() / error)


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    batches = make_frames(generator).split(BATCH)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_step(model, optimizer, batches[0], generator)
    start = time.perf_counter()
    losses = [train_step(model, optimizer, batches[i % len(batches)], generator) for i in range(STEPS)]
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(torch.stack(losses).mean()), float(quality(model, batches[0], generator)))


if __name__ == "__main__":
    main()
