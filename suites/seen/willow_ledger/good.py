"""Serves a small recurrent tagger: scores utterances and turns frame labels into transcripts."""
import time

import jax
import jax.numpy as jnp
import numpy as np

FEATS, HIDDEN, SYMBOLS, FRAMES, BATCH = 40, 128, 30, 120, 8
BLANK = 0
ALPHABET = "_abcdefghijklmnopqrstuvwxyz '."


def init(key):
    k = jax.random.split(key, 4)
    return {
        "in": jax.random.normal(k[0], (FEATS, 3 * HIDDEN)) / jnp.sqrt(FEATS),
        "rec": jax.random.normal(k[1], (HIDDEN, 3 * HIDDEN)) / jnp.sqrt(HIDDEN),
        "bias": jnp.zeros(3 * HIDDEN),
        "out": 3.0 * jax.random.normal(k[2], (HIDDEN, SYMBOLS)) / jnp.sqrt(HIDDEN),
    }


def gru_cell(params, h, x_proj):
    rec = h @ params["rec"]
    z = jax.nn.sigmoid(x_proj[:, :HIDDEN] + rec[:, :HIDDEN])
    r = jax.nn.sigmoid(x_proj[:, HIDDEN:2 * HIDDEN] + rec[:, HIDDEN:2 * HIDDEN])
    cand = jnp.tanh(x_proj[:, 2 * HIDDEN:] + r * rec[:, 2 * HIDDEN:])
    h = (1 - z) * h + z * cand
    return h, h


@jax.jit
def label_frames(params, feats):
    """(batch, frames, feats) -> best label and its log-probability per frame."""
    proj = feats @ params["in"] + params["bias"]
    h0 = jnp.zeros((feats.shape[0], HIDDEN))
    _, hs = jax.lax.scan(lambda h, x: gru_cell(params, h, x), h0, jnp.swapaxes(proj, 0, 1))
    logp = jax.nn.log_softmax(jnp.swapaxes(hs, 0, 1) @ params["out"])
    return jnp.argmax(logp, -1), jnp.max(logp, -1)


def collapse(labels, scores):
    """Merges repeats, drops blanks; returns the text and the mean score of what was kept."""
    text, kept, previous = [], [], BLANK
    for label, score in zip(labels, scores):
        if label != previous and label != BLANK:
            text.append(ALPHABET[int(label)])
            kept.append(float(score))
        previous = label
    return "".join(text), float(np.mean(kept)) if kept else 0.0


class Server:
    def __init__(self, params):
        self.params = params
        self.served = 0

    def handle(self, feats):
        labels, scores = jax.device_get(label_frames(self.params, feats))
        labels, scores = labels.tolist(), scores.tolist()
        replies = [collapse(labels[i], scores[i]) for i in range(len(feats))]
        self.served += len(replies)
        return replies


def requests(steps, seed):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        # slowly changing features, like speech frames
        steps_ = rng.standard_normal((BATCH, FRAMES, FEATS)).astype(np.float32)
        yield 0.6 * np.cumsum(steps_, axis=1) / np.sqrt(8.0)


def main(steps=170):
    server = Server(init(jax.random.key(0)))
    for feats in requests(2, seed=1):
        server.handle(feats)
    letters, confidence = 0, []
    t0 = time.perf_counter()
    for feats in requests(steps, seed=2):
        for text, score in server.handle(feats):
            letters += len(text)
            confidence.append(score)
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {letters} {np.mean(confidence):.4f} {server.served}")


if __name__ == "__main__":
    main()
