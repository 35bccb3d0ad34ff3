"""Predict solubility of molecules with a message-passing network; molecule sizes vary a lot."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

N_ATOM_TYPES, BATCH = 8, 16


def random_molecule(rng):
    n = int(np.clip(rng.lognormal(2.5, 0.45), 4, 40))
    if rng.uniform() < 0.006:
        n = int(rng.integers(120, 200))
    parents = np.array([rng.integers(max(0, i - 3), i) for i in range(1, n)])
    child = np.arange(1, n)
    senders = np.concatenate([parents, child])
    receivers = np.concatenate([child, parents])
    atoms = rng.integers(0, N_ATOM_TYPES, size=n)
    target = np.log1p(np.sum(atoms == 1)) - 0.3 * np.mean(atoms) + 0.05 * rng.normal()
    return jraph.GraphsTuple(
        nodes=np.eye(N_ATOM_TYPES, dtype=np.float32)[atoms],
        edges=None,
        senders=senders,
        receivers=receivers,
        n_node=np.array([n]),
        n_edge=np.array([len(senders)]),
        globals=np.array([[target]], np.float32),
    )


class MessagePassing(nn.Module):
    width: int = 64
    rounds: int = 3

    @nn.compact
    def __call__(self, graph):
        n_nodes = graph.nodes.shape[0]
        n_graphs = graph.n_node.shape[0]
        h = nn.Dense(self.width)(graph.nodes)
        for _ in range(self.rounds):
            pair = jnp.concatenate([h[graph.senders], h[graph.receivers]], axis=-1)
            message = nn.silu(nn.Dense(self.width)(pair))
            pooled = jraph.segment_sum(message, graph.receivers, n_nodes)
            h = h + nn.silu(nn.Dense(self.width)(jnp.concatenate([h, pooled], axis=-1)))
        owner = jnp.repeat(jnp.arange(n_graphs), graph.n_node, total_repeat_length=n_nodes)
        return nn.Dense(1)(jraph.segment_sum(h, owner, n_graphs))


class Loader:
    def __init__(self, molecules, batch_size):
        self.batch_size = batch_size
        self.batches = [
            jraph.batch_np(molecules[i:i + batch_size])
            for i in range(0, len(molecules), batch_size)
        ]

    def sizes(self, batch):
        n_node = 128
        while n_node <= batch.n_node.sum():
            n_node *= 2
        return n_node, 2 * n_node

    def __iter__(self):
        for batch in self.batches:
            n_node, n_edge = self.sizes(batch)
            yield jraph.pad_with_graphs(batch, n_node, n_edge, self.batch_size + 1)


def main():
    rng = np.random.default_rng(0)
    loader = Loader([random_molecule(rng) for _ in range(240 * BATCH)], BATCH)
    model = MessagePassing()
    optimizer = optax.adam(1e-3)

    def loss_fn(params, graph):
        mask = jraph.get_graph_padding_mask(graph)[:, None]
        error = (model.apply(params, graph) - graph.globals) ** 2
        return jnp.sum(jnp.where(mask, error, 0.0)) / jnp.sum(mask)

    @jax.jit
    def train_step(params, opt_state, graph):
        loss, grads = jax.value_and_grad(loss_fn)(params, graph)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    shapes = {graph.nodes.shape: graph for graph in loader}
    params = jax.jit(model.init)(jax.random.key(0), next(iter(shapes.values())))
    opt_state = optimizer.init(params)
    for graph in shapes.values():
        jax.block_until_ready(train_step(params, opt_state, graph))

    losses = []
    start = time.perf_counter()
    for graph in loader:
        params, opt_state, loss = train_step(params, opt_state, graph)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{len(losses)} steps in {elapsed:.3f} s")
    print(f"checksum {float(jnp.stack(losses).mean()):.5f} {float(jnp.stack(losses[-20:]).mean()):.5f}")


if __name__ == "__main__":
    main()
