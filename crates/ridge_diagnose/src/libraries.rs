//! What parts of libraries cost more than another part of the same library would, and when: from their own documents.
//!
//! Names alone prove nothing, so nothing here is a warning: a part is told where it has a large share of the time, with the condition
//! under which the other one gives the same.

/// How an operation is known to be of a part.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sign {
    /// A frame of its stack is in this file of a package, in a function whose name begins so; any function where that is empty.
    Frame(&'static str, &'static str),
    /// A function that JAX compiles by itself, by its name: `_shuffle` in `jit(step)/jit(_shuffle)/sort`.
    Function(&'static str),
    /// The host was in a function of a package whose file and name begin so, called by the program or innermost.
    Host(&'static str),
}

/// In which direction an operation with such a frame runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// In both.
    Any,
    /// Backward: it is the transpose of something.
    Backward,
}

/// A part of a library.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// What tells its operations, any of these.
    pub(crate) signs: &'static [Sign],
    /// Which of those with a frame count.
    pub(crate) pass: Pass,
    /// What it does: "… % of the time" goes before.
    pub(crate) does: &'static str,
    /// Why that takes long.
    pub(crate) why: &'static str,
    /// What does the same in less time, and when.
    pub(crate) help: &'static str,
    /// Where the library's document says so.
    pub(crate) source: &'static str,
}

use Pass::{Any, Backward};
use Sign::{Frame, Function, Host};

/// Every part; where several fit an operation, the one whose frame is innermost counts, and the first of these.
pub(crate) static PARTS: &[Part] = &[
    Part {
        signs: &[Frame("diffrax/_brownian/tree.py", "VirtualBrownianTree")],
        pass: Any,
        does: "draws Brownian increments from a tree by bisection (`diffrax.VirtualBrownianTree`)",
        why: "every increment descends the tree down to `tol`, and draws random bits and normal numbers on each level",
        help: "with constant steps and no gradient through the path, `diffrax.UnsafeBrownianPath` draws each increment once; otherwise a larger `tol`, near the step, has fewer levels",
        source: "https://docs.kidger.site/diffrax/api/brownian/",
    },
    Part {
        signs: &[Frame("diffrax/_adjoint.py", "DirectAdjoint")],
        pass: Any,
        does: "differentiates an ODE solve step by step with all of them kept (`diffrax.DirectAdjoint`)",
        why: "it runs `max_steps` steps, taken or not, and keeps each for the way back",
        help: "use `RecursiveCheckpointAdjoint()` for gradients, `ForwardMode()` for few parameters; a smaller `max_steps` helps in any case",
        source: "https://docs.kidger.site/diffrax/api/adjoints/",
    },
    Part {
        signs: &[Frame("diffrax/_adjoint.py", "_loop_backsolve")],
        pass: Any,
        does: "solves a second ODE backward for the gradient (`diffrax.BacksolveAdjoint`)",
        why: "the state is solved again together with the gradient, and its error is added",
        help: "`RecursiveCheckpointAdjoint()` is usually faster, and exact for the steps taken",
        source: "https://docs.kidger.site/diffrax/api/adjoints/",
    },
    Part {
        signs: &[Frame("diffrax/_root_finder/", "")],
        pass: Any,
        does: "solves the stages of an implicit ODE solver by Newton's method",
        why: "each stage factors a Jacobian and iterates with it",
        help: "unless the equation is stiff, an explicit solver (`Tsit5`, `Dopri5`) needs neither; for stiff ones an IMEX solver (`KenCarp4`) keeps the implicit part small",
        source: "https://docs.kidger.site/diffrax/usage/how-to-choose-a-solver/",
    },
    Part {
        signs: &[Frame("lineax/_solver/svd.py", "SVD")],
        pass: Any,
        does: "solves linear systems by a singular value decomposition (`lineax.SVD`)",
        why: "the decomposition takes many times as long as a factorization, and serves singular systems alone",
        help: "for a system that is not singular use `lineax.AutoLinearSolver(well_posed=True)`; for a symmetric positive definite one tag the operator `positive_semidefinite_tag`, which makes it `lineax.Cholesky()`",
        source: "https://docs.kidger.site/lineax/api/solvers/",
    },
    Part {
        signs: &[Frame("lineax/_solver/lu.py", "LU")],
        pass: Any,
        does: "solves linear systems by an LU factorization (`lineax.LU`)",
        why: "LU takes twice the work of Cholesky, and both take that of a dense matrix",
        help: "if the matrix is symmetric positive definite, tag it `positive_semidefinite_tag` (Cholesky); tag diagonal, triangular or tridiagonal ones, too; large operators that are only applied suit `lineax.CG` or `GMRES`",
        source: "https://docs.kidger.site/lineax/api/solvers/",
    },
    Part {
        signs: &[Frame("optimistix/_adjoint.py", "RecursiveCheckpointAdjoint")],
        pass: Backward,
        does: "differentiates through every iteration of an inner solver (`optimistix.RecursiveCheckpointAdjoint`)",
        why: "each iteration is kept or computed again, and run through backward",
        help: "use `optimistix.ImplicitAdjoint()`: the gradient by the implicit function theorem takes one linear solve at the solution",
        source: "https://docs.kidger.site/optimistix/api/adjoints/",
    },
    Part {
        signs: &[Frame("jaxopt/_src/loop.py", ""), Function("_while_loop_scan")],
        pass: Backward,
        does: "differentiates through every iteration of an inner solver of `jaxopt`, backward",
        why: "each iteration is kept, and run through backward",
        help: "use `implicit_diff=True`: the gradient by the implicit function theorem takes one linear solve at the solution, and needs no iteration kept",
        source: "https://jaxopt.github.io/stable/implicit_diff.html",
    },
    Part {
        signs: &[Frame("ott/geometry/pointcloud.py", ""), Frame("ott/geometry/geometry.py", "Geometry")],
        pass: Any,
        does: "applies a kernel between all pairs of points of `ott`'s geometry (`PointCloud` or `Geometry`)",
        why: "every iteration of Sinkhorn's algorithm goes through the whole matrix of costs",
        help: "points on a regular grid: `ott.geometry.grid.Grid`, which is separable and takes one axis at a time; large `epsilon`: `lse_mode=False`; many points: low-rank Sinkhorn (`LRSinkhorn`) or fewer iterations by a start (`initializers`)",
        source: "https://ott-jax.readthedocs.io/geometry.html",
    },
    Part {
        signs: &[Frame("jax_md/smap.py", "pair.")],
        pass: Any,
        does: "computes a potential between all pairs of particles (`jax_md.smap.pair`)",
        why: "the pairs grow with the square of the particles, and those beyond the cutoff add nothing",
        help: "with a cutoff use the function with a neighbor list (`energy.…_neighbor_list`), and update the list where particles have moved",
        source: "https://jax-md.readthedocs.io/en/main/jax_md.partition.html",
    },
    Part {
        signs: &[Frame("brax/generalized/", "")],
        pass: Any,
        does: "simulates in generalized coordinates (Brax's `generalized` backend)",
        why: "mass matrix and constraint Jacobians are built and solved in every substep",
        help: "where accuracy allows, `backend='spring'` or `'positional'` is faster; `backend='mjx'` replaces it where contacts matter; fewer substeps (`n_frames`) help in any case",
        source: "https://github.com/google/brax",
    },
    Part {
        signs: &[Frame("mujoco/mjx/_src/solver.py", "")],
        pass: Any,
        does: "solves for contact forces in MJX",
        why: "every iteration solves with the mass matrix, and its line search evaluates all constraints",
        help: "lower `iterations` and `ls_iterations`, use `solver=\"CG\"` or Newton with `cone=\"pyramidal\"`, and leave out contacts that cannot occur (`contype`, `conaffinity`, `max_contact_points`)",
        source: "https://mujoco.readthedocs.io/en/stable/mjx.html",
    },
    Part {
        signs: &[Frame("optax/_src/linesearch.py", "")],
        pass: Any,
        does: "searches along a line, with evaluations of the loss for each update (`optax`)",
        why: "each trial computes the function, and mostly its gradient, anew",
        help: "reuse the values of the last trial (`optax.value_and_grad_from_state`), allow fewer steps (`max_linesearch_steps`), or use an optimizer with a fixed rate",
        source: "https://optax.readthedocs.io/en/latest/api/line_search.html",
    },
    Part {
        signs: &[Frame("optax/contrib/_muon.py", "")],
        pass: Any,
        does: "orthogonalizes updates by Newton–Schulz iterations (`optax.contrib.muon`)",
        why: "each update multiplies matrices of the weights' size several times",
        help: "fewer `ns_steps`, `ns_coeffs` that converge faster, lower precision for it, or Muon for the large inner matrices alone",
        source: "https://optax.readthedocs.io/en/latest/api/contrib.html",
    },
    Part {
        signs: &[Frame("equinox/_errors.py", "")],
        pass: Any,
        does: "checks values while the program runs (`equinox.error_if`)",
        why: "each check reads the values back to decide, inside of loops in every turn",
        help: "set `EQX_ON_ERROR=off` once the program is right, or check outside of the loop",
        source: "https://docs.kidger.site/equinox/api/errors/",
    },
    Part {
        signs: &[Function("_shuffle")],
        pass: Any,
        does: "shuffles with random keys that are sorted (`jax.random.permutation`, or `choice` without replacement)",
        why: "all elements get a key and are sorted several times, however few of them are used",
        help: "for a batch draw indices with `jax.random.randint` (with replacement), or make one permutation for an epoch and slice it",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html",
    },
    Part {
        signs: &[Function("expm")],
        pass: Any,
        does: "computes matrix exponentials (`jax.scipy.linalg.expm`)",
        why: "each is a Padé approximation with a linear solve and up to 16 squarings",
        help: "of a matrix that stays the same compute it once, of one with many times diagonalize once (`eigh` if it is symmetric) and scale the eigenvalues; of a matrix times a vector only the product is needed (Krylov, Taylor)",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.expm.html",
    },
    Part {
        signs: &[Function("svd"), Function("pinv"), Function("matrix_rank"), Function("lstsq"), Function("cond")],
        pass: Any,
        does: "computes singular value decompositions (`svd`, `pinv`, `lstsq`, `matrix_rank`)",
        why: "the decomposition is iterative, and takes many times as long as a factorization of the same matrix",
        help: "to solve a system that is not singular use `solve`, `cho_solve` or QR; of a tall matrix the eigenvalues of `A.T @ A` are enough where half of the digits are; a few singular vectors come cheaper from a randomized or power iteration",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.svd.html",
    },
    Part {
        signs: &[Function("eigh"), Function("eigvalsh"), Function("_eigh")],
        pass: Any,
        does: "computes all eigenvalues of symmetric matrices (`eigh`)",
        why: "the decomposition is iterative, and takes ten times or more as long as Cholesky's",
        help: "for a solve, a determinant or samples of a normal distribution Cholesky is enough; for a few eigenpairs use `jax.experimental.sparse.linalg.lobpcg_standard` or a power iteration; of a matrix that changes seldom keep the result",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.eigh.html",
    },
    Part {
        signs: &[
            Function("_gamma"),
            Function("_poisson"),
            Function("_poisson_rejection"),
            Function("_poisson_knuth"),
            Function("_binomial"),
            Function("_beta"),
            Function("_dirichlet"),
        ],
        pass: Any,
        does: "draws random numbers by rejection (gamma, beta, Dirichlet, Poisson or binomial)",
        why: "each number is a loop of its own, and a batch goes on until the last of them is accepted",
        help: "draw once for many steps, draw from a distribution with an inverse (normal, exponential, Gumbel) where that serves, or take a normal approximation where the counts are large",
        source: "https://docs.jax.dev/en/latest/jax.random.html",
    },
    Part {
        signs: &[
            Function("_threefry_split"),
            Function("_threefry_random_bits_original"),
            Function("_normal_real"),
            Function("_normal"),
            Function("_uniform"),
            Function("_bernoulli"),
            Function("_truncated_normal"),
            Function("_gumbel"),
        ],
        pass: Any,
        does: "makes random numbers",
        why: "JAX's default generator (Threefry) computes 20 rounds of integer arithmetic for every two words",
        help: "draw only what is used, and what stays the same once; for dropout and noise on GPUs and TPUs `jax.config.update(\"jax_default_prng_impl\", \"rbg\")` is faster, with other numbers",
        source: "https://docs.jax.dev/en/latest/jax.random.html",
    },
    Part {
        signs: &[Function("kron")],
        pass: Any,
        does: "builds Kronecker products as whole matrices (`jnp.kron`)",
        why: "the product has as many elements as those of both factors multiplied, and each is read again",
        help: "apply the factors one after the other: `(A ⊗ B) vec(X) = vec(A @ X @ B.T)` for rows",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.kron.html",
    },
    Part {
        signs: &[Function("odeint")],
        pass: Any,
        does: "solves an ODE with `jax.experimental.ode.odeint`",
        why: "steps adapt to the hardest of a batch, and gradients solve a second ODE backward",
        help: "looser `rtol` and `atol`; `diffrax.diffeqsolve` has more solvers, and gradients without a second solve",
        source: "https://docs.jax.dev/en/latest/jax.experimental.ode.html",
    },
    Part {
        signs: &[
            Function("bcoo_dot_general"),
            Function("bcoo_reduce_sum"),
            Function("bcsr_dot_general"),
            Function("bcoo_sort_indices"),
        ],
        pass: Any,
        does: "works on sparse arrays of `jax.experimental.sparse`",
        why: "their products are gathers and scatters unless a vendor's library serves the format",
        help: "mark `indices_sorted=True, unique_indices=True`, sort once, or gather and `segment_sum` over sorted indices yourself; above about 10% of non-zeros dense is faster",
        source: "https://docs.jax.dev/en/latest/jax.experimental.sparse.html",
    },
    Part {
        signs: &[Function("map_coordinates"), Function("_map_coordinates")],
        pass: Any,
        does: "interpolates at scattered coordinates (`map_coordinates`)",
        why: "each result gathers its neighbors one by one, with index arithmetic for every corner",
        help: "coordinates that stay the same: compute indices and weights once; shifts and rotations of whole grids: shear one axis at a time, or interpolate by a product with a small matrix for each axis",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.scipy.ndimage.map_coordinates.html",
    },
    Part {
        signs: &[Host("torch/distributions/multivariate_normal.py")],
        pass: Any,
        does: "builds multivariate normal distributions: their covariance is validated and factorized (Cholesky) each time",
        why: "the constructor checks that the covariance is symmetric and positive definite, and factorizes it, for every matrix of the batch",
        help: "a covariance that stays the same: factorize once with `torch.linalg.cholesky`, and pass `scale_tril=` with `validate_args=False`; a distribution that stays the same: build it once, outside of the loop",
        source: "https://docs.pytorch.org/docs/stable/distributions.html",
    },
    Part {
        signs: &[Host("torch/distributions/")],
        pass: Any,
        does: "builds distributions and validates their arguments (`torch.distributions`)",
        why: "each constructor and each `log_prob` compares whole arrays with their constraints, and waits for the result",
        help: "`validate_args=False`, or `torch.distributions.Distribution.set_default_validate_args(False)` once the program is right; build distributions that stay the same outside of the loop",
        source: "https://docs.pytorch.org/docs/stable/distributions.html",
    },
    Part {
        signs: &[
            Host("torch/nn/utils/parametriz"),
            Host("torch/nn/utils/weight_norm.py"),
            Host("torch/nn/utils/spectral_norm.py"),
        ],
        pass: Any,
        does: "computes weights from their parametrization, anew each time that they are read (`torch.nn.utils.parametrize`)",
        why: "an orthogonal, normalized or otherwise parametrized weight is a function of the raw one, computed at every access, and its gradient as often",
        help: "put the forward pass of all time steps into `with torch.nn.utils.parametrize.cached():`, so that each weight is computed once per step",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.cached.html",
    },
    Part {
        signs: &[Host("torch/autograd/functional.py")],
        pass: Any,
        does: "takes Jacobians or Hessians row by row (`torch.autograd.functional`)",
        why: "each row is a backward pass of its own, launched from Python",
        help: "`vectorize=True`, or `torch.func.jacrev`, `jacfwd` and `hessian`, which take all rows in one batch",
        source: "https://docs.pytorch.org/docs/stable/func.html",
    },
    Part {
        signs: &[Host("torch/optim/lbfgs.py")],
        pass: Any,
        does: "takes steps of L-BFGS (`torch.optim.LBFGS`)",
        why: "each step evaluates the loss and its gradient up to `max_iter` times, more with a line search",
        help: "a lower `max_iter` or `max_eval`, `line_search_fn=None` where the rate is known, or an optimizer with one evaluation per step (Adam)",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html",
    },
    Part {
        signs: &[Host("flax/nnx/transforms/"), Host("flax/nnx/graph")],
        pass: Any,
        does: "is the host's, which walks the graph of modules in Python at each call (`nnx.jit`)",
        why: "`nnx.jit` takes model and optimizer apart and puts them together again around every call",
        help: "bind them once with `nnx.cached_partial(train_step, model, optimizer)`, or `nnx.split` once and `jax.jit` a function of the state",
        source: "https://flax.readthedocs.io/en/latest/guides/performance.html",
    },
    Part {
        signs: &[Host("numpyro/infer/svi.py:SVI.update"), Host("numpyro/infer/svi.py:SVI.stable_update")],
        pass: Any,
        does: "is the host's, which traces the model and runs it operation by operation (`SVI.update` without `jit`)",
        why: "outside of `jax.jit` each update runs the effect handlers and every operation from Python",
        help: "`jax.jit(svi.update)`, or `svi.run`, which compiles the loop",
        source: "https://num.pyro.ai/en/stable/svi.html",
    },
    Part {
        signs: &[Host("gymnasium/"), Host("gym/")],
        pass: Any,
        does: "is the host's, in the environment's Python (`gymnasium`)",
        why: "one environment is stepped at a time, and the device waits for it",
        help: "step many environments at once (`gymnasium.make_vec`, `AsyncVectorEnv`) with one batch for the policy, or an environment on the device (gymnax, Brax)",
        source: "https://gymnasium.farama.org/api/vector/",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_sentences() {
        for part in PARTS {
            assert!(part.does.chars().next().is_some_and(char::is_lowercase), "{}", part.does);
            assert!(!part.why.ends_with('.') && !part.help.ends_with('.'), "{}", part.does);
            assert!(part.source.starts_with("https://") && !part.signs.is_empty(), "{}", part.does);
        }
    }
}
