"""Graph network that predicts the flexibility of residues from contact maps."""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

RESIDUES = 700
CONTACTS = 6000
WIDTH = 48
ROUNDS = 3


def make_protein(seed):
    rng = np.random.default_rng(seed)
    chain = np.cumsum(rng.normal(size=(RESIDUES, 3)), axis=0)
    senders = rng.integers(0, RESIDUES, CONTACTS)
    receivers = (senders + rng.integers(1, 40, CONTACTS)) % RESIDUES
    distance = np.linalg.norm(chain[senders] - chain[receivers], axis=-1, keepdims=True)
    nodes = np.concatenate([chain / 20.0, np.eye(20)[rng.integers(0, 20, RESIDUES)]], axis=-1)
    graph = jraph.GraphsTuple(
        nodes=jnp.asarray(nodes, jnp.float32),
        edges=jnp.asarray(1.0 / (1.0 + distance), jnp.float32),
        senders=jnp.asarray(senders),
        receivers=jnp.asarray(receivers),
        globals=None,
        n_node=jnp.array([RESIDUES]),
        n_edge=jnp.array([CONTACTS]),
    )
    degree = np.bincount(receivers, minlength=RESIDUES)
    target = 1.0 / (1.0 + degree) + 0.05 * rng.normal(size=RESIDUES)
    return graph, jnp.asarray(target, jnp.float32)


def collect(messages, receivers, num_nodes):
    incidence = jax.nn.one_hot(receivers, num_nodes, dtype=messages.dtype)
    return incidence.T @ messages


class Flexibility(nn.Module):
    @nn.compact
    def __call__(self, graph):
        graph = graph._replace(nodes=nn.Dense(WIDTH)(graph.nodes), edges=nn.Dense(WIDTH)(graph.edges))
        for _ in range(ROUNDS):
            edge_layer, node_layer = nn.Dense(WIDTH), nn.Dense(WIDTH)
            network = jraph.GraphNetwork(
                update_edge_fn=lambda e, s, r, g: nn.relu(edge_layer(jnp.concatenate([e, s, r], -1))),
                update_node_fn=lambda n, sent, received, g: nn.relu(node_layer(jnp.concatenate([n, received], -1))),
                aggregate_edges_for_nodes_fn=collect,
            )
            graph = network(graph)
        return nn.Dense(1)(graph.nodes)[:, 0]


model = Flexibility()
optimizer = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, graph, target):
    def loss_fn(params):
        return jnp.mean((model.apply(params, graph) - target) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    proteins = [make_protein(seed) for seed in range(4)]
    params = model.init(jax.random.key(0), proteins[0][0])
    opt_state = optimizer.init(params)
    params, opt_state, loss = train_step(params, opt_state, *proteins[0])
    loss.block_until_ready()

    start = time.perf_counter()
    steps = 40
    for step in range(steps):
        params, opt_state, loss = train_step(params, opt_state, *proteins[step % len(proteins)])
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(loss):.6f} {float(optax.global_norm(params)):.4f}")


if __name__ == "__main__":
    main()
