"""Semi-supervised labels of a citation-like graph with a residual graph convolution network."""
import functools
import time

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

N_NODES = 3000
N_EDGES = 12000
FEATURES = 64
HIDDEN = 64
CLASSES = 7
N_STEPS = 60


def synth_graph(rng):
    community = rng.integers(0, CLASSES, N_NODES)
    members = [np.flatnonzero(community == c) for c in range(CLASSES)]
    send = rng.integers(0, N_NODES, N_EDGES)
    recv = np.array([rng.choice(members[community[s]]) for s in send])
    cross = rng.uniform(size=N_EDGES) < 0.2
    recv[cross] = rng.integers(0, N_NODES, cross.sum())
    loops = np.arange(N_NODES)
    senders = np.concatenate([send, recv, loops]).astype(np.int32)
    receivers = np.concatenate([recv, send, loops]).astype(np.int32)
    order = np.argsort(receivers, kind="stable")
    senders, receivers = senders[order], receivers[order]
    degree = np.bincount(receivers, minlength=N_NODES).astype(np.float32)
    weight = 1.0 / np.sqrt(degree[senders] * degree[receivers])
    centres = rng.normal(size=(CLASSES, FEATURES))
    nodes = 0.5 * centres[community] + rng.normal(size=(N_NODES, FEATURES))
    graph = jraph.GraphsTuple(
        nodes=jnp.asarray(nodes, jnp.float32),
        edges=jnp.asarray(weight[:, None]),
        senders=jnp.asarray(senders),
        receivers=jnp.asarray(receivers),
        n_node=jnp.array([N_NODES]),
        n_edge=jnp.array([len(senders)]),
        globals=None,
    )
    return graph, jnp.asarray(community), jnp.asarray(rng.uniform(size=N_NODES) < 0.2)


def propagate(graph, h):
    messages = h[graph.senders] * graph.edges
    return jraph.segment_sum(messages, graph.receivers, N_NODES, indices_are_sorted=True)


def network(graph):
    h = jax.nn.relu(hk.Linear(HIDDEN)(graph.nodes))
    for _ in range(3):
        h = h + jax.nn.relu(propagate(graph, hk.Linear(HIDDEN)(h)))
    return hk.Linear(CLASSES)(h)


def main():
    graph, labels, known = synth_graph(np.random.default_rng(19))
    net = hk.without_apply_rng(hk.transform(network))
    params = net.init(jax.random.PRNGKey(0), graph)
    optimizer = optax.adam(5e-3)
    opt_state = optimizer.init(params)

    def loss_fn(params, graph, labels, known):
        logits = net.apply(params, graph)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return jnp.sum(jnp.where(known, losses, 0.0)) / jnp.sum(known)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(params, opt_state, graph, labels, known):
        loss, grads = jax.value_and_grad(loss_fn)(params, graph, labels, known)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    params, opt_state, loss = update(params, opt_state, graph, labels, known)
    jax.block_until_ready(loss)

    start = time.perf_counter()
    losses = []
    for _ in range(N_STEPS):
        params, opt_state, loss = update(params, opt_state, graph, labels, known)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.4f} {float(losses[-1]):.4f}")


if __name__ == "__main__":
    main()
