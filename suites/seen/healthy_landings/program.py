"""Predicts the delays of flights by a graph network over airports, many small graphs at once (jraph)."""

import time

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

GRAPHS, FEATURES, WIDTH = 128, 16, 64
NODES, EDGES = 20 * GRAPHS + 1, 80 * GRAPHS


def networks(rng, count):
    """Days with a changing number of airports, padded together to one size."""
    graphs = []
    for _ in range(count):
        nodes = int(rng.integers(16, 21))
        edges = 4 * nodes
        x = rng.normal(size=(nodes, FEATURES)).astype(np.float32)
        senders, receivers = rng.integers(0, nodes, size=(2, edges))
        target = np.float32([np.tanh(x[senders, 0] * x[receivers, 1]).mean()])
        graphs.append(
            jraph.GraphsTuple(x, None, receivers, senders, target, np.array([nodes]), np.array([edges]))
        )
    return jraph.pad_with_graphs(jraph.batch_np(graphs), NODES, EDGES, GRAPHS + 1)


def initial(key):
    keys = jax.random.split(key, 5)
    shapes = [(FEATURES, WIDTH), (FEATURES, WIDTH), (FEATURES + WIDTH, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)]
    return [jax.random.normal(k, shape) / jnp.sqrt(shape[0]) for k, shape in zip(keys, shapes)]


def predict(params, graph):
    sent, received, node, deep, last = params
    along = jax.nn.relu((graph.nodes @ sent)[graph.senders] + (graph.nodes @ received)[graph.receivers])
    messages = jraph.segment_sum(along, graph.receivers, NODES)
    hidden = jax.nn.relu(jnp.concatenate([graph.nodes, messages], axis=1) @ node)
    owner = jnp.repeat(jnp.arange(GRAPHS + 1), graph.n_node, total_repeat_length=NODES)
    pooled = jraph.segment_mean(jax.nn.relu(hidden @ deep), owner, GRAPHS + 1, indices_are_sorted=True)
    return (pooled @ last)[:, 0]


def main():
    rng = np.random.default_rng(0)
    batches = [jax.device_put(networks(rng, GRAPHS)) for _ in range(8)]
    params = initial(jax.random.key(0))
    tx = optax.adam(1e-3)

    @jax.jit
    def step(params, opt_state, graph):
        real = jraph.get_graph_padding_mask(graph)

        def loss(params):
            return jnp.where(real, jnp.square(predict(params, graph) - graph.globals), 0.0).sum() / GRAPHS

        value, grads = jax.value_and_grad(loss)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, value

    params, opt_state, value = step(params, tx.init(params), batches[0])
    value.block_until_ready()
    steps = 120
    start = time.perf_counter()
    for i in range(steps):
        params, opt_state, value = step(params, opt_state, batches[i % 8])
    value.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value))


if __name__ == "__main__":
    main()
