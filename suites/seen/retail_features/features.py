"""Features of a block of sales: per store, per product and per hour of the week."""

import numpy as np

STORES, PRODUCTS, HOURS = 300, 400, 168


def group_mean(keys, values, size):
    """Mean of `values` within each group, put back on every row."""
    out = np.zeros(len(keys), np.float32)
    for group in np.unique(keys):
        member = keys == group
        out[member] = values[member].mean()
    return out


def block_of_sales(seed, rows):
    rng = np.random.default_rng(seed)
    store = rng.integers(0, STORES, rows)
    product = rng.integers(0, PRODUCTS, rows)
    hour = rng.integers(0, HOURS, rows)
    level = np.sin(store) + np.cos(product) + 0.5 * np.sin(hour / 24 * 2 * np.pi)
    units = rng.poisson(np.exp(0.3 * level))
    return {"store": store, "product": product, "hour": hour, "units": units.astype(np.float32)}


def featurize(block):
    lagged = np.log1p(np.roll(block["units"], 1))
    columns = [
        lagged,
        group_mean(block["store"], lagged, STORES),
        group_mean(block["product"], lagged, PRODUCTS),
        group_mean(block["hour"], lagged, HOURS),
        np.sin(2 * np.pi * block["hour"] / 24),
        np.cos(2 * np.pi * block["hour"] / 24),
    ]
    return np.stack(columns, axis=1).astype(np.float32), np.log1p(block["units"])
