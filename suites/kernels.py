"""Some fifty operations of known work and traffic: what a count, a counter and a clock can be laid against.

`size` is the edge of a square array of 32-bit numbers; at 8192 it has 256 MiB, more than the caches of today's devices hold.
Operations that compute much for their bytes take a part of the edge, so that each runs for milliseconds and not for seconds.
Each is one compiled module, called `jit_kernels_` and its name: JAX has an `add` of its own.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ridgeline.suite import Suite

jax.config.update("jax_enable_x64", True)

suite = Suite("kernels", sizes=(2048, 8192))

HIGHEST = lax.Precision.HIGHEST


def numbers(shape, dtype=jnp.float32, seed=0):
    """Normal random numbers; integers from -8 to 7."""
    source = np.random.default_rng(seed)
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.asarray(source.integers(-8, 8, shape, dtype=np.int32), dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return lax.complex(numbers(shape, seed=seed), numbers(shape, seed=seed + 1))
    return jnp.asarray(source.standard_normal(shape, dtype=np.float32), dtype)


def fixtures(**made):
    """Declare a fixture for each name, made by its function of the size."""
    for name, make in made.items():
        suite.fixture(ready(name, make))


def ready(name, make):
    """`make` under a name, done when its arrays are."""
    def fixture(size):
        return jax.block_until_ready(make(size))

    fixture.__name__ = name
    return fixture


fixtures(
    a=lambda n: numbers((n, n)),
    b=lambda n: numbers((n, n), seed=2),
    a_f64=lambda n: numbers((n, n // 2), jnp.float64),
    a_bf16=lambda n: numbers((n, n), jnp.bfloat16),
    a_i32=lambda n: numbers((n, n), jnp.int32),
    a_complex=lambda n: numbers((n, n // 2), jnp.complex64),
    vector=lambda n: numbers((n,), seed=3),
    row=lambda n: numbers((1, n), seed=3),
    rows_shuffled=lambda n: jnp.asarray(np.random.default_rng(4).permutation(n).astype(np.int32)),
    few_rows=lambda n: jnp.asarray(np.random.default_rng(5).permutation(n)[: n // 8].astype(np.int32)),
    places=lambda n: jnp.asarray(np.random.default_rng(6).integers(0, n * n, n * n // 16, dtype=np.int32)),
    few_numbers=lambda n: numbers((n * n // 16,), seed=7),
    square=lambda n: numbers((n // 2, n // 2)),
    square_bf16=lambda n: numbers((n // 2, n // 2), jnp.bfloat16),
    square_f16=lambda n: numbers((n // 2, n // 2), jnp.float16),
    square_f64=lambda n: numbers((n // 4, n // 4), jnp.float64),
    square_i8=lambda n: numbers((n // 2, n // 2), jnp.int8),
    batch=lambda n: numbers((64, n // 16, n // 16), jnp.bfloat16),
    positive=lambda n: (lambda m: m @ m.T + n * jnp.eye(n // 4, dtype=m.dtype))(numbers((n // 4, n // 4))),
    triangle=lambda n: jnp.tril(numbers((n // 4, n // 4))) + n * jnp.eye(n // 4, dtype=jnp.float32),
    sides=lambda n: numbers((n // 4, n // 4), seed=8),
    pictures=lambda n: numbers((16, n // 32, n // 32, 64), jnp.bfloat16),
    taps=lambda n: numbers((3, 3, 64, 64), jnp.bfloat16),
    heads=lambda n: numbers((4, n // 8, 16, 64), jnp.bfloat16),
    key=lambda n: jax.random.key(0),
)


def operations(**declared):
    """Declare an operation for each name: a function of fixtures, called by their names, compiled as one module."""
    for name, function in declared.items():
        function.__name__ = f"kernels_{name}"
        compiled = jax.jit(function)
        suite.operation(compiled, name=name)


def stencil(a):
    """Five points of the Laplacian inside the array."""
    return a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4 * a[1:-1, 1:-1]


def polynomial(a):
    """128 multiply-adds per element: arithmetic, not memory."""
    result = a
    for _ in range(128):
        result = result * a + 0.5
    return result


def polynomial_f64(a_f64):
    """32 multiply-adds of 64-bit numbers per element."""
    result = a_f64
    for _ in range(32):
        result = result * a_f64 + 0.5
    return result


def layer_norm(a):
    """Rows less their mean, over their deviation."""
    mean = a.mean(axis=1, keepdims=True)
    return (a - mean) * lax.rsqrt(((a - mean) ** 2).mean(axis=1, keepdims=True) + 1e-5)


def blocked_sum(a):
    """A loop of 64 small sums: device work that a launch of each would dominate."""
    edge = a.shape[0] // 64
    return lax.fori_loop(0, 64, lambda i, total: total + lax.dynamic_slice_in_dim(a, i * edge, edge).sum(axis=0),
                         jnp.zeros(a.shape[1], a.dtype))


operations(
    # Elementwise and moves.
    add=lambda a, b: a + b,
    add_f64=lambda a_f64: a_f64 + 1.5,
    add_bf16=lambda a_bf16: a_bf16 + a_bf16 * a_bf16,
    add_i32=lambda a_i32: a_i32 + 3,
    multiply_complex=lambda a_complex: a_complex * a_complex,
    axpy=lambda a, b: 2.5 * a + b,
    exp=lambda a: jnp.exp(a),
    tanh=lambda a: jnp.tanh(a),
    where=lambda a, b: jnp.where(a > 0, a, b),
    divide=lambda a, b: a / (jnp.abs(b) + 1),
    sqrt=lambda a: jnp.sqrt(jnp.abs(a)),
    polynomial=polynomial,
    polynomial_f64=polynomial_f64,
    convert=lambda a_bf16: a_bf16.astype(jnp.float32),
    transpose=lambda a: a.T,
    transpose_bf16=lambda a_bf16: a_bf16.T,
    reverse=lambda a: a[:, ::-1],
    every_other_column=lambda a: a[:, ::2],
    every_other_row=lambda a: a[::2],
    concatenate=lambda a, b: jnp.concatenate([a, b], axis=1),
    pad=lambda a: jnp.pad(a, 1),
    broadcast=lambda a, row: a * row,
    outer=lambda vector: vector[:, None] * vector[None, :],
    one_hot=lambda rows_shuffled: jax.nn.one_hot(rows_shuffled, rows_shuffled.shape[0], dtype=jnp.float32),
    stencil=stencil,
    # Reductions.
    sum_all=lambda a: a.sum(),
    sum_rows=lambda a: a.sum(axis=1),
    sum_columns=lambda a: a.sum(axis=0),
    max_rows_bf16=lambda a_bf16: a_bf16.max(axis=1),
    argmax_rows=lambda a: a.argmax(axis=1),
    softmax=lambda a: jax.nn.softmax(a, axis=1),
    layer_norm=layer_norm,
    cumsum_rows=lambda a: jnp.cumsum(a, axis=1),
    max_pool=lambda pictures: lax.reduce_window(pictures, jnp.bfloat16(-jnp.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    # Gathers and scatters.
    gather_rows=lambda a, rows_shuffled: a[rows_shuffled],
    gather_few_rows=lambda a, few_rows: a[few_rows],
    gather_elements=lambda a, places: a.reshape(-1)[places],
    scatter_set_rows=lambda a, few_rows: a.at[few_rows].set(1.0, unique_indices=True),
    scatter_add_rows=lambda a, b, few_rows: a.at[few_rows].add(b[: few_rows.shape[0]]),
    scatter_add_elements=lambda a, places, few_numbers: a.reshape(-1).at[places].add(few_numbers),
    update_slice=lambda a, row: lax.dynamic_update_slice(a, row, (7, 0)),
    # Sorting and random numbers.
    sort_rows=lambda a: jnp.sort(a, axis=1),
    top_k=lambda a: lax.top_k(a, 8),
    random_bits=lambda key, a: jax.random.bits(key, a.shape, jnp.uint32),
    # Products.
    matmul_tf32=lambda square: square @ square,
    matmul_f32=lambda square: jnp.matmul(square, square, precision=HIGHEST),
    matmul_bf16=lambda square_bf16: square_bf16 @ square_bf16,
    matmul_f16=lambda square_f16: square_f16 @ square_f16,
    matmul_f64=lambda square_f64: square_f64 @ square_f64,
    matmul_i8=lambda square_i8: lax.dot(square_i8, square_i8, preferred_element_type=jnp.int32),
    matmul_batch=lambda batch: batch @ batch,
    matmul_vector=lambda a, vector: a @ vector,
    attention=lambda heads: jax.nn.dot_product_attention(heads, heads, heads),
    convolution=lambda pictures, taps: lax.conv_general_dilated(pictures, taps, (1, 1), "SAME",
                                                                dimension_numbers=("NHWC", "HWIO", "NHWC")),
    # Libraries.
    fft_rows=lambda a_complex: jnp.fft.fft(a_complex, axis=1),
    fft_2d=lambda a: jnp.fft.rfft2(a),
    cholesky=lambda positive: lax.linalg.cholesky(positive),
    triangular_solve=lambda triangle, sides: lax.linalg.triangular_solve(triangle, sides, left_side=True, lower=True),
    # Loops.
    blocked_sum=blocked_sum,
)
