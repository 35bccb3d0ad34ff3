"""Plucked strings rendered with feedback delay lines and a low-pass loop."""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

RATE = 16_000
BLOCK = 2_000


class Strings(NamedTuple):
    line: jax.Array      # (voices, delay)
    damping: jax.Array   # (voices,)
    gain: jax.Array      # (voices,)
    last: jax.Array      # (voices,)


def pluck(key, n_voices, delay):
    k1, k2, k3 = jax.random.split(key, 3)
    return Strings(
        line=jax.random.uniform(k1, (n_voices, delay), minval=-1.0),
        damping=jax.random.uniform(k2, (n_voices,), minval=0.3, maxval=0.7),
        gain=jax.random.uniform(k3, (n_voices,), minval=0.985, maxval=0.997),
        last=jnp.zeros(n_voices),
    )


def tick(strings, excite):
    out = strings.line[:, 0]
    low = strings.damping * out + (1.0 - strings.damping) * strings.last
    fresh = strings.gain * low + excite
    line = jnp.roll(strings.line, -1, axis=1).at[:, -1].set(fresh)
    return strings._replace(line=line, last=out), out.mean()


@jax.jit
def render_block(strings, excitation):
    strings, audio = jax.lax.scan(tick, strings, excitation)
    return strings, audio


class Envelope:
    """Sparse bursts that re-excite the strings."""

    def __init__(self, seed, period, amount):
        self.rng = np.random.default_rng(seed)
        self.period = period
        self.amount = amount

    def block(self, n, n_voices):
        x = np.zeros((n, n_voices), np.float32)
        for v in range(n_voices):
            for start in range(self.rng.integers(self.period), n, self.period):
                stop = min(start + 40, n)
                x[start:stop, v] = self.amount * self.rng.normal(size=stop - start)
        return jnp.asarray(x)


def loudness(audio):
    return 10.0 * jnp.log10(jnp.mean(audio**2) + 1e-9)


def main():
    n_voices, delay, n_steps = 24, 3000, 45
    strings = pluck(jax.random.PRNGKey(5), n_voices, delay)
    envelope = Envelope(9, 700, 0.2)
    blocks = [envelope.block(BLOCK, n_voices) for _ in range(8)]
    jax.block_until_ready(render_block(strings, blocks[0]))
    levels, tail = [], None
    t0 = time.perf_counter()
    for k in range(n_steps):
        strings, audio = render_block(strings, blocks[k % len(blocks)])
        levels.append(loudness(audio))
        tail = audio
    jax.block_until_ready((levels, tail))
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {float(np.mean(levels)):.4f} {float(jnp.abs(tail).sum()):.4f}")


if __name__ == "__main__":
    main()
