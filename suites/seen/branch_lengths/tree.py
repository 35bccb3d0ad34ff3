"""A random rooted tree and sequences evolved along it, for the likelihood program."""

import numpy as np

STATES = 20


def random_tree(tips, seed):
    """Children of each inner node, in an order where children come first."""
    rng = np.random.default_rng(seed)
    roots, children = list(range(tips)), []
    following = tips
    while len(roots) > 1:
        a, b = rng.choice(len(roots), 2, replace=False)
        left, right = roots[a], roots[b]
        roots = [node for node in roots if node not in (left, right)] + [following]
        children.append((left, right))
        following += 1
    return np.asarray(children, np.int32)


def tip_states(tips, sites, seed):
    rng = np.random.default_rng(seed)
    ancestor = rng.integers(0, STATES, sites)
    mutated = rng.random((tips, sites)) < 0.3
    return np.where(mutated, rng.integers(0, STATES, (tips, sites)), ancestor)


def exchange_model(seed):
    """A reversible rate matrix with its stationary frequencies."""
    rng = np.random.default_rng(seed)
    exchange = rng.gamma(1.0, 1.0, (STATES, STATES))
    exchange = exchange + exchange.T
    freq = rng.dirichlet(np.full(STATES, 5.0))
    rate = exchange * freq[None, :]
    np.fill_diagonal(rate, 0.0)
    np.fill_diagonal(rate, -rate.sum(1))
    rate /= -(freq * np.diag(rate)).sum()
    return rate.astype(np.float32), freq.astype(np.float32)
