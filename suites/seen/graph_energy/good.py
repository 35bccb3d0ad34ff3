"""A small message-passing network that learns molecular energies (jraph, haiku).

Molecules of eight to thirty atoms are batched sixteen at a time; a dummy graph
takes the padding, as in jraph's own examples.
"""

import time

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax
from dataset import molecules

BATCH = 16
WIDTH = 48
NODE_BUDGET = BATCH * 30 + 1
EDGE_BUDGET = BATCH * 260 + 1


def network(graph):
    def mlp(name):
        return hk.nets.MLP([WIDTH, WIDTH], name=name)

    graph = graph._replace(
        nodes=hk.Linear(WIDTH, name="embed_atoms")(graph.nodes),
        edges=hk.Linear(WIDTH, name="embed_bonds")(graph.edges),
        globals=None,
    )
    for layer in range(2):
        step = jraph.GraphNetwork(
            update_edge_fn=lambda e, s, r, g, i=layer: mlp(f"edge_{i}")(jnp.concatenate([e, s, r], -1)),
            update_node_fn=lambda n, s, r, g, i=layer: mlp(f"node_{i}")(jnp.concatenate([n, r], -1)),
        )
        graph = step(graph)
    graphs = graph.n_node.shape[0]
    which = jnp.repeat(jnp.arange(graphs), graph.n_node, total_repeat_length=graph.nodes.shape[0])
    pooled = jraph.segment_mean(graph.nodes, which, graphs)
    return hk.Linear(1, name="readout")(pooled)


net = hk.without_apply_rng(hk.transform(network))
tx = optax.adam(1e-3)


def loss_fn(params, graph):
    mask = jraph.get_graph_padding_mask(graph)
    error = (net.apply(params, graph) - graph.globals)[:, 0]
    return jnp.sum(jnp.where(mask, error**2, 0.0)) / mask.sum()


@jax.jit
def train_step(params, opt_state, graph):
    loss, grads = jax.value_and_grad(loss_fn)(params, graph)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def collate(group):
    graph = jraph.batch_np(group)
    return jraph.pad_with_graphs(graph, n_node=NODE_BUDGET, n_edge=EDGE_BUDGET, n_graph=BATCH + 1)


def batches(data, epochs, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(data))
        for first in range(0, len(data), BATCH):
            yield collate([data[i] for i in order[first : first + BATCH]])


def main():
    data = molecules(48, seed=1)
    params = net.init(jax.random.key(0), collate(data[:BATCH]))
    opt_state = tx.init(params)
    for graph in batches(data, 1, seed=7):
        params, opt_state, loss = train_step(params, opt_state, graph)
    jax.block_until_ready(loss)
    steps = 0
    start = time.perf_counter()
    for graph in batches(data, 2, seed=8):
        params, opt_state, loss = train_step(params, opt_state, graph)
        steps += 1
    jax.block_until_ready(loss)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
