"""Two-tower music retrieval: weekly refresh of playlists from listening sessions."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_TRACKS = 30_000
N_TAGS = 200
DIM = 32
SLATE = 20
USERS = 16
HISTORY = 12
N_STEPS = 30


class Tower(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, features):
        h = nn.relu(nn.Dense(8 * self.dim)(features))
        h = nn.Dense(self.dim)(h)
        return h / (jnp.linalg.norm(h, axis=-1, keepdims=True) + 1e-6)


class TwoTowers(nn.Module):
    dim: int

    def setup(self):
        self.user = Tower(self.dim)
        self.item = Tower(self.dim)

    def encode_tracks(self, tracks):
        return self.item(tracks)

    def __call__(self, histories, clicked, tracks):
        return self.user(tracks[histories].mean(axis=1)), self.item(tracks[clicked])


def synth_catalogue(rng):
    tags = rng.normal(size=(N_TAGS, DIM))
    owner = rng.integers(0, N_TAGS, N_TRACKS)
    tracks = tags[owner] + 0.6 * rng.normal(size=(N_TRACKS, DIM))
    tracks /= np.linalg.norm(tracks, axis=1, keepdims=True)
    return jnp.asarray(tracks, jnp.float32)


def synth_sessions(rng, n):
    histories = rng.integers(0, N_TRACKS, (n, USERS, HISTORY)).astype(np.int32)
    clicked = rng.integers(0, N_TRACKS, (n, USERS)).astype(np.int32)
    return histories, clicked


def recommend(queries, items, histories):
    scores = queries @ items.T
    rows = jnp.arange(scores.shape[0])[:, None]
    scores = scores.at[rows, histories].set(-jnp.inf)
    slate = jnp.argsort(scores, axis=-1, descending=True)[:, :SLATE]
    return slate, jnp.take_along_axis(scores, slate, axis=-1)


class Retrieval:
    def __init__(self, tracks):
        self.tracks = tracks
        self.model = TwoTowers(DIM)
        self.optimizer = optax.adam(1e-3)
        self.step = jax.jit(self._step)

    def init(self, key, histories, clicked):
        params = self.model.init(key, histories, clicked, self.tracks)
        return params, self.optimizer.init(params)

    def _step(self, params, opt_state, tracks, histories, clicked):
        def loss_fn(p):
            queries, chosen = self.model.apply(p, histories, clicked, tracks)
            logits = 10.0 * queries @ chosen.T
            labels = jnp.arange(clicked.shape[0])
            return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, labels)), queries

        (loss, queries), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        items = self.model.apply(params, tracks, method=TwoTowers.encode_tracks)
        slate, scores = recommend(queries, items, histories)
        novelty = jnp.mean(jnp.abs(items[slate] @ queries[:, :, None]))
        updates, opt_state = self.optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, jnp.mean(scores) + novelty


def main():
    rng = np.random.default_rng(14)
    retrieval = Retrieval(synth_catalogue(rng))
    histories, clicked = synth_sessions(rng, N_STEPS)
    params, opt_state = retrieval.init(jax.random.PRNGKey(0), histories[0], clicked[0])
    jax.block_until_ready(retrieval.step(params, opt_state, retrieval.tracks, histories[0], clicked[0]))

    start = time.perf_counter()
    losses, quality = [], []
    for history, click in zip(histories, clicked):
        params, opt_state, loss, score = retrieval.step(
            params, opt_state, retrieval.tracks, history, click
        )
        losses.append(loss)
        quality.append(score)
    jax.block_until_ready((params, losses, quality))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.4f} {float(sum(quality)):.4f}")


if __name__ == "__main__":
    main()
