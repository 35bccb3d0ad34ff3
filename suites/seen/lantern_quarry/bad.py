"""Trains a small spectrum classifier on a data set that lives in an archive on disk."""
import os
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

BANDS, CLASSES, ROWS, BATCH = 256, 8, 6000, 256


def write_archive(path, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, ROWS)
    centres = 20 + 28 * labels[:, None] + rng.normal(0, 3, (ROWS, 1))
    grid = np.arange(BANDS)[None]
    spectra = np.exp(-0.5 * ((grid - centres) / 9.0) ** 2) + 0.2 * rng.standard_normal((ROWS, BANDS))
    np.savez_compressed(
        path,
        spectra=np.round(spectra, 2).astype(np.float32),
        labels=labels.astype(np.int32),
        weight=rng.uniform(0.5, 1.5, ROWS).astype(np.float32),
    )


class SpectrumArchive:
    """Random access by row number, with the usual standardisation."""

    def __init__(self, path):
        self.data = np.load(path)
        self.mean = self.data["spectra"].mean(0)
        self.std = self.data["spectra"].std(0) + 1e-6
        self.size = len(self.data["labels"])

    def __len__(self):
        return self.size

    def rows(self, idx):
        x = (self.data["spectra"][idx] - self.mean) / self.std
        return x, self.data["labels"][idx], self.data["weight"][idx]


def batches(archive, batch, steps, seed):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield archive.rows(np.sort(rng.choice(len(archive), batch, replace=False)))


def init(key, widths=(BANDS, 192, 192, CLASSES)):
    params = []
    for a, b in zip(widths[:-1], widths[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (a, b)) * jnp.sqrt(2 / a), "b": jnp.zeros(b)})
    return params


def logits(params, x):
    for layer in params[:-1]:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y, weight):
    logp = jax.nn.log_softmax(logits(params, x))
    nll = -jnp.take_along_axis(logp, y[:, None], axis=1)[:, 0]
    return jnp.sum(weight * nll) / jnp.sum(weight)


@jax.jit
def update(params, momentum, x, y, weight):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y, weight)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - 0.01 * m, params, momentum)
    return params, momentum, loss


def fit(archive, params, momentum, steps, seed):
    losses = []
    for x, y, weight in batches(archive, BATCH, steps, seed):
        params, momentum, loss = update(params, momentum, x, y, weight)
        losses.append(loss)
    return params, momentum, np.asarray(jnp.stack(losses))


def main(steps=400):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spectra.npz")
        write_archive(path)
        archive = SpectrumArchive(path)
        params = init(jax.random.key(1))
        momentum = jax.tree.map(jnp.zeros_like, params)
        params, momentum, _ = fit(archive, params, momentum, 3, seed=1)
        t0 = time.perf_counter()
        params, momentum, losses = fit(archive, params, momentum, steps, seed=2)
        print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
        x, y, _ = archive.rows(np.arange(2000))
        acc = float(jnp.mean(jnp.argmax(logits(params, x), -1) == y))
        print(f"checksum {losses[:20].mean():.4f} {acc:.4f}")


if __name__ == "__main__":
    main()
