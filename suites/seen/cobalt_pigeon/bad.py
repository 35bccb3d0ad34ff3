"""An embedding service: pooled intermediate activations of an image network, per request."""
import time

import torch
from torch import nn

torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.skip = nn.Conv2d(cin, cout, 1, stride=stride, bias=False)

    def forward(self, x):
        out = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(out)) + self.skip(x))


class SmallResNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.layer1 = Block(16, 16, 1)
        self.layer2 = Block(16, 32, 2)
        self.layer3 = Block(32, 64, 2)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean(dim=(2, 3)))


def pool(activation):
    """Mean and maximum of every channel over the image."""
    flat = activation.flatten(2)
    return torch.cat([flat.mean(-1), flat.amax(-1)], dim=1)


class EmbeddingService:
    """Answers with the normalised activations of the requested layers."""

    def __init__(self, model, layers=("layer1", "layer2", "layer3")):
        self.model = model.eval()
        self.layers = layers

    @torch.inference_mode()
    def embed(self, images):
        features = {}

        def save_to(name):
            def hook(module, inputs, output):
                features[name] = pool(output)
            return hook

        modules = dict(self.model.named_modules())
        for name in self.layers:
            modules[name].register_forward_hook(save_to(name))

        logits = self.model(images)
        vector = torch.cat([features[name] for name in self.layers], dim=1)
        return nn.functional.normalize(vector, dim=1), logits.argmax(1)


class Index:
    """Keeps a running centroid per predicted class."""

    def __init__(self, classes, width):
        self.total = torch.zeros(classes, width)
        self.count = torch.zeros(classes)

    def add(self, vectors, classes):
        self.total.index_add_(0, classes, vectors)
        self.count.index_add_(0, classes, torch.ones(len(classes)))

    def centroids(self):
        return self.total / self.count.clamp(min=1).unsqueeze(1)


def requests(count, generator, batch=2, size=48):
    for _ in range(count):
        yield torch.rand(batch, 3, size, size, generator=generator)


def main(steps=440):
    torch.manual_seed(0)
    service = EmbeddingService(SmallResNet())
    index = Index(classes=10, width=2 * (16 + 32 + 64))
    generator = torch.Generator().manual_seed(1)
    for images in requests(5, generator):
        service.embed(images)

    begin = time.perf_counter()
    for images in requests(steps, generator):
        vectors, classes = service.embed(images)
        index.add(vectors, classes)
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksum {index.centroids().norm().item():.5f} {index.total.sum().item():.4f}")


if __name__ == "__main__":
    main()
