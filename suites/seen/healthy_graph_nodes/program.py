"""Node labels in a citation-like graph by a two-layer graph convolution (jraph, haiku).

The graph never changes, so its shapes are fixed, its edges are sorted by
receiver once, and the whole graph is one batch.
"""

import time

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

NODES, EDGES, WORDS, CLASSES = 2000, 10_000, 256, 7


def citation_graph(seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, NODES)
    senders = rng.integers(0, NODES, EDGES)
    friends = rng.permutation(NODES)[np.argsort(label[rng.permutation(NODES)], kind="stable")]
    receivers = np.where(rng.random(EDGES) < 0.7, friends[senders], rng.integers(0, NODES, EDGES))
    order = np.argsort(receivers, kind="stable")
    words = (rng.random((NODES, WORDS)) < 0.02) + 0.3 * rng.normal(size=(CLASSES, WORDS))[label]
    degree = np.bincount(receivers, minlength=NODES) + 1.0
    weight = 1.0 / np.sqrt(degree[senders] * degree[receivers])
    graph = jraph.GraphsTuple(
        nodes=words.astype(np.float32),
        edges=weight[order, None].astype(np.float32),
        senders=senders[order].astype(np.int32),
        receivers=receivers[order].astype(np.int32),
        globals=None,
        n_node=np.array([NODES]),
        n_edge=np.array([EDGES]),
    )
    return graph, label, rng.random(NODES) < 0.2


def network(graph):
    def convolve(nodes, width):
        nodes = hk.Linear(width, with_bias=False)(nodes)
        messages = nodes[graph.senders] * graph.edges
        return nodes + jax.ops.segment_sum(messages, graph.receivers, NODES, indices_are_sorted=True)

    return convolve(jax.nn.relu(convolve(graph.nodes, 32)), CLASSES)


net = hk.without_apply_rng(hk.transform(network))
tx = optax.adam(5e-3)


def loss_fn(params, graph, label, known):
    loss = optax.softmax_cross_entropy_with_integer_labels(net.apply(params, graph), label)
    return jnp.sum(loss * known) / known.sum()


@jax.jit
def train_block(params, opt_state, graph, label, known):
    def body(_, carry):
        params, opt_state, _ = carry
        loss, grads = jax.value_and_grad(loss_fn)(params, graph, label, known)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return jax.lax.fori_loop(0, 10, body, (params, opt_state, jnp.float32(0)))


def main():
    graph, label, known = jax.device_put(citation_graph())
    params = net.init(jax.random.key(0), graph)
    opt_state = tx.init(params)
    params, opt_state, loss = train_block(params, opt_state, graph, label, known)
    loss.block_until_ready()
    steps = 12
    start = time.perf_counter()
    for _ in range(steps):
        params, opt_state, loss = train_block(params, opt_state, graph, label, known)
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
