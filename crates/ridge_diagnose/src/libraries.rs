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
        does: "goes to drawing Brownian increments from a bisection tree (`diffrax.VirtualBrownianTree`)",
        why: "every increment descends the tree down to `tol`, and draws normal random numbers on each level",
        help: "with constant steps and no gradient through the path, use `diffrax.UnsafeBrownianPath`, which draws each increment once; otherwise use a larger `tol`, close to the step size, for fewer levels",
        source: "https://docs.kidger.site/diffrax/api/brownian/",
    },
    Part {
        signs: &[Frame("diffrax/_adjoint.py", "DirectAdjoint")],
        pass: Any,
        does: "goes to differentiating an ODE solve step by step with all steps stored (`diffrax.DirectAdjoint`)",
        why: "the adjoint always runs `max_steps` steps and stores each of them for the backward pass",
        help: "use `RecursiveCheckpointAdjoint()` for gradients, or `ForwardMode()` for few parameters; in any case lower `max_steps`",
        source: "https://docs.kidger.site/diffrax/api/adjoints/",
    },
    Part {
        signs: &[Frame("diffrax/_adjoint.py", "_loop_backsolve")],
        pass: Any,
        does: "goes to solving a second ODE backward for the gradient (`diffrax.BacksolveAdjoint`)",
        why: "the adjoint solves the state again together with the gradient, which adds work and error",
        help: "use `RecursiveCheckpointAdjoint()`, which is usually faster and exact for the steps taken",
        source: "https://docs.kidger.site/diffrax/api/adjoints/",
    },
    Part {
        signs: &[Frame("diffrax/_root_finder/", "")],
        pass: Any,
        does: "goes to solving the stages of an implicit ODE solver by Newton's method",
        why: "each stage factorizes a Jacobian and iterates with it",
        help: "if the equation isn't stiff, use an explicit solver (`Tsit5`, `Dopri5`), which needs neither; for a stiff equation use an IMEX solver (`KenCarp4`), which keeps the implicit part small",
        source: "https://docs.kidger.site/diffrax/usage/how-to-choose-a-solver/",
    },
    Part {
        signs: &[Frame("lineax/_solver/svd.py", "SVD")],
        pass: Any,
        does: "goes to solving linear systems by a singular value decomposition (`lineax.SVD`)",
        why: "the decomposition takes many times as long as a factorization, and only singular systems need it",
        help: "for a nonsingular system use `lineax.AutoLinearSolver(well_posed=True)`; for a symmetric positive definite system tag the operator `positive_semidefinite_tag` to use `lineax.Cholesky()`",
        source: "https://docs.kidger.site/lineax/api/solvers/",
    },
    Part {
        signs: &[Frame("lineax/_solver/lu.py", "LU")],
        pass: Any,
        does: "goes to solving linear systems by an LU factorization (`lineax.LU`)",
        why: "LU takes twice the work of Cholesky, and both treat the matrix as dense",
        help: "tag a symmetric positive definite matrix `positive_semidefinite_tag` (Cholesky), and also tag diagonal, triangular or tridiagonal matrices; for large matrix-free operators use `lineax.CG` or `GMRES`",
        source: "https://docs.kidger.site/lineax/api/solvers/",
    },
    Part {
        signs: &[Frame("optimistix/_adjoint.py", "RecursiveCheckpointAdjoint")],
        pass: Backward,
        does: "goes to differentiating through every iteration of an inner solver (`optimistix.RecursiveCheckpointAdjoint`)",
        why: "the backward pass stores or recomputes every iteration and differentiates it",
        help: "use `optimistix.ImplicitAdjoint()`: the gradient by the implicit function theorem needs one linear solve at the solution",
        source: "https://docs.kidger.site/optimistix/api/adjoints/",
    },
    Part {
        signs: &[Frame("jaxopt/_src/loop.py", ""), Function("_while_loop_scan")],
        pass: Backward,
        does: "goes to differentiating backward through every iteration of an inner solver of `jaxopt`",
        why: "the backward pass stores every iteration and differentiates it",
        help: "use `implicit_diff=True`: the gradient by the implicit function theorem needs one linear solve at the solution and no stored iterations",
        source: "https://jaxopt.github.io/stable/implicit_diff.html",
    },
    Part {
        signs: &[Frame("ott/geometry/pointcloud.py", ""), Frame("ott/geometry/geometry.py", "Geometry")],
        pass: Any,
        does: "goes to applying a kernel between all pairs of points of an `ott` geometry (`PointCloud` or `Geometry`); a separable `Grid` would suffice for points on a regular grid",
        why: "every Sinkhorn iteration reads the whole cost matrix",
        help: "for points on a regular grid use `ott.geometry.grid.Grid`, which is separable and handles one axis at a time; for large `epsilon` use `lse_mode=False`; for many points use low-rank Sinkhorn (`LRSinkhorn`) or a better initial guess (`initializers`)",
        source: "https://ott-jax.readthedocs.io/geometry.html",
    },
    Part {
        signs: &[Frame("jax_md/smap.py", "pair.")],
        pass: Any,
        does: "goes to computing a potential between all pairs of particles (`jax_md.smap.pair`)",
        why: "the number of pairs grows quadratically with the particles, and pairs beyond the cutoff contribute nothing",
        help: "if there is a cutoff, use the neighbor-list version (`energy.…_neighbor_list`), and update the list when particles have moved",
        source: "https://jax-md.readthedocs.io/en/main/jax_md.partition.html",
    },
    Part {
        signs: &[
            Frame("tinygp/solvers/direct.py", ""),
            Frame("tinygp/kernels/base.py", ""),
            Frame("tinygp/kernels/stationary.py", ""),
        ],
        pass: Any,
        does: "goes to a Gaussian process with a dense covariance matrix (`tinygp`'s `DirectSolver`)",
        why: "the matrix of all pairs of points is built and factorized (Cholesky) in every evaluation, and the work grows with the cube of the points",
        help: "for one-dimensional sorted inputs such as time series use `tinygp.kernels.quasisep` (`Matern32`, `SHO`, …), whose solver takes time in proportion to the points; otherwise use inducing points or fewer points",
        source: "https://tinygp.readthedocs.io/en/stable/api/kernels.quasisep.html",
    },
    Part {
        signs: &[Frame("jax_md/partition.py", "")],
        pass: Any,
        does: "goes to building and updating neighbor lists (`jax_md.partition.neighbor_list`)",
        why: "a list is rebuilt as soon as a particle has moved by half of `dr_threshold`, so without that skin around the cutoff it is rebuilt in every step",
        help: "give a skin (`dr_threshold` of 10 to 30% of the cutoff), so that many steps share a list; don't call `allocate` in the loop",
        source: "https://jax-md.readthedocs.io/en/main/jax_md.partition.html",
    },
    Part {
        signs: &[
            Frame("numpyro/infer/hmc_util.py", ""),
            Frame("numpyro/infer/hmc.py", ""),
            Frame("blackjax/mcmc/nuts.py", ""),
            Frame("blackjax/mcmc/trajectory.py", ""),
            Frame("blackjax/mcmc/integrators.py", ""),
        ],
        pass: Any,
        does: "goes to the leapfrog steps of NUTS or HMC, each of which evaluates the gradient of the model",
        why: "a draw takes up to 2 to the power of the tree depth steps, many where parameters are correlated or of unlike scale, and vectorized chains wait for the longest tree",
        help: "look at the number of steps of each draw (`extra_fields=(\"num_steps\",)`): if they are many, use `dense_mass=True`, center and scale the inputs, or reparametrize the model (non-centered); otherwise make the model's gradient cheaper, or lower `max_tree_depth`",
        source: "https://num.pyro.ai/en/stable/mcmc.html",
    },
    Part {
        signs: &[Frame("brax/generalized/", "")],
        pass: Any,
        does: "goes to simulating in generalized coordinates (Brax's `generalized` backend)",
        why: "every substep builds and solves the mass matrix and constraint Jacobians",
        help: "use the faster `backend='spring'` or `'positional'` if they are accurate enough, or `backend='mjx'` if contacts matter; in any case use fewer substeps (`n_frames`)",
        source: "https://github.com/google/brax",
    },
    Part {
        signs: &[Frame("mujoco/mjx/_src/solver.py", "")],
        pass: Any,
        does: "goes to solving for contact forces in MJX",
        why: "every iteration solves with the mass matrix, and its line search evaluates all constraints",
        help: "lower `iterations` and `ls_iterations`, use `solver=\"CG\"` or Newton with `cone=\"pyramidal\"`, and exclude impossible contacts (`contype`, `conaffinity`, `max_contact_points`)",
        source: "https://mujoco.readthedocs.io/en/stable/mjx.html",
    },
    Part {
        signs: &[Frame("optax/_src/linesearch.py", "")],
        pass: Any,
        does: "goes to a line search that evaluates the loss several times per update (`optax`)",
        why: "each trial step recomputes the function, and usually its gradient",
        help: "reuse the values of the last trial step (`optax.value_and_grad_from_state`), allow fewer steps (`max_linesearch_steps`), or use an optimizer with a fixed learning rate",
        source: "https://optax.readthedocs.io/en/latest/api/line_search.html",
    },
    Part {
        signs: &[Frame("optax/contrib/_muon.py", "")],
        pass: Any,
        does: "goes to orthogonalizing updates by Newton–Schulz iterations (`optax.contrib.muon`)",
        why: "each update multiplies weight-sized matrices several times",
        help: "use fewer `ns_steps`, faster-converging `ns_coeffs` or lower precision, or apply Muon only to the large inner matrices",
        source: "https://optax.readthedocs.io/en/latest/api/contrib.html",
    },
    Part {
        signs: &[Frame("equinox/_errors.py", "")],
        pass: Any,
        does: "goes to checking values at run time (`equinox.error_if`)",
        why: "each check reads values back to the host, and inside a loop it does so in every iteration",
        help: "set `EQX_ON_ERROR=off` once the program is correct, or check outside of the loop",
        source: "https://docs.kidger.site/equinox/api/errors/",
    },
    Part {
        signs: &[Function("_shuffle")],
        pass: Any,
        does: "goes to shuffling by sorting random keys (`jax.random.permutation`, or `choice` without replacement)",
        why: "every element gets a key, and all of them are sorted several times, no matter how few are used",
        help: "for a batch, draw indices with `jax.random.randint` (with replacement), or make one permutation per epoch and slice it",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html",
    },
    Part {
        signs: &[Function("expm")],
        pass: Any,
        does: "goes to computing matrix exponentials (`jax.scipy.linalg.expm`)",
        why: "each exponential is a Padé approximation with a linear solve and up to 16 squarings",
        help: "for a constant matrix, compute it once; for many times, diagonalize the matrix once (`eigh` if it is symmetric) and scale the eigenvalues; for its product with a vector, compute only the product (Krylov, Taylor)",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.expm.html",
    },
    Part {
        signs: &[Function("svd"), Function("pinv"), Function("matrix_rank"), Function("lstsq"), Function("cond")],
        pass: Any,
        does: "goes to computing singular value decompositions (`svd`, `pinv`, `lstsq`, `matrix_rank`)",
        why: "the decomposition is iterative, and takes many times as long as a factorization of the same matrix",
        help: "to solve a nonsingular system use `solve`, `cho_solve` or QR; for a tall matrix, use the eigenvalues of `A.T @ A` if half of the digits are enough; for a few singular vectors, use a randomized or power iteration",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.svd.html",
    },
    Part {
        signs: &[Function("eigh"), Function("eigvalsh"), Function("_eigh")],
        pass: Any,
        does: "goes to computing all eigenvalues of symmetric matrices (`eigh`)",
        why: "the decomposition is iterative, and takes at least ten times as long as Cholesky",
        help: "for a solve, a determinant or normal samples use Cholesky; for a few eigenpairs use `jax.experimental.sparse.linalg.lobpcg_standard` or a power iteration; if the matrix rarely changes, keep the result",
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
        does: "goes to drawing random numbers by rejection (gamma, beta, Dirichlet, Poisson or binomial)",
        why: "each number is drawn in a loop, and a batch loops until its last number is accepted",
        help: "draw once for many steps, use a distribution with an inverse (normal, exponential, Gumbel) if possible, or a normal approximation if the counts are large",
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
        does: "goes to generating random numbers",
        why: "JAX's default generator (Threefry) computes 20 rounds of integer arithmetic for every two words",
        help: "draw only the numbers you use, and constant ones only once; for dropout and noise on GPUs and TPUs, `jax.config.update(\"jax_default_prng_impl\", \"rbg\")` is faster but draws different numbers",
        source: "https://docs.jax.dev/en/latest/jax.random.html",
    },
    Part {
        signs: &[Function("kron")],
        pass: Any,
        does: "goes to building Kronecker products as whole matrices (`jnp.kron`)",
        why: "the product has as many elements as both factors multiplied, and all of them are read again",
        help: "apply the two factors separately: `(A ⊗ B) vec(X) = vec(A @ X @ B.T)` in row-major order",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.kron.html",
    },
    Part {
        signs: &[Function("odeint")],
        pass: Any,
        does: "goes to solving an ODE with `jax.experimental.ode.odeint`",
        why: "the steps adapt to the hardest member of a batch, and gradients solve a second ODE backward",
        help: "loosen `rtol` and `atol`, or use `diffrax.diffeqsolve`, which has more solvers and gradients without a second solve",
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
        does: "goes to sparse arrays of `jax.experimental.sparse`",
        why: "their products compile to gathers and scatters unless a vendor library supports the format",
        help: "set `indices_sorted=True, unique_indices=True`, sort once, or write the gather and `segment_sum` over sorted indices yourself; above about 10% nonzeros, use dense arrays",
        source: "https://docs.jax.dev/en/latest/jax.experimental.sparse.html",
    },
    Part {
        signs: &[Function("map_coordinates"), Function("_map_coordinates")],
        pass: Any,
        does: "goes to interpolating at scattered coordinates (`map_coordinates`)",
        why: "each result gathers its neighbors one by one, with index arithmetic for every corner",
        help: "for constant coordinates, compute indices and weights once; for shifts and rotations of whole grids, shear one axis at a time, or interpolate by multiplying with a small matrix per axis",
        source: "https://docs.jax.dev/en/latest/_autosummary/jax.scipy.ndimage.map_coordinates.html",
    },
    Part {
        signs: &[Host("torch/distributions/multivariate_normal.py")],
        pass: Any,
        does: "goes to building multivariate normal distributions, which validates and factorizes (Cholesky) the covariance every time",
        why: "the constructor checks that each covariance in the batch is symmetric and positive definite, and factorizes it",
        help: "for a constant covariance, factorize once with `torch.linalg.cholesky`, and pass `scale_tril=` with `validate_args=False`; build a constant distribution once, outside of the loop",
        source: "https://docs.pytorch.org/docs/stable/distributions.html",
    },
    Part {
        signs: &[Host("torch/distributions/")],
        pass: Any,
        does: "goes to building distributions and validating their arguments (`torch.distributions`)",
        why: "each constructor and `log_prob` call checks whole arrays against their constraints, and waits for the result",
        help: "pass `validate_args=False`, or call `torch.distributions.Distribution.set_default_validate_args(False)` once the program is correct; build constant distributions outside of the loop",
        source: "https://docs.pytorch.org/docs/stable/distributions.html",
    },
    Part {
        signs: &[
            Host("torch/nn/utils/parametriz"),
            Host("torch/nn/utils/weight_norm.py"),
            Host("torch/nn/utils/spectral_norm.py"),
        ],
        pass: Any,
        does: "goes to recomputing weights from their parametrization on every access (`torch.nn.utils.parametrize`)",
        why: "every access of a parametrized (orthogonal, normalized) weight computes it from the raw weight, and the backward pass does so as often",
        help: "run the forward pass of all time steps inside `with torch.nn.utils.parametrize.cached():`, which computes each weight once per step",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.cached.html",
    },
    Part {
        signs: &[Host("torch/autograd/functional.py")],
        pass: Any,
        does: "goes to computing Jacobians or Hessians row by row (`torch.autograd.functional`)",
        why: "each row is a separate backward pass, launched from Python",
        help: "pass `vectorize=True`, or use `torch.func.jacrev`, `jacfwd` or `hessian`, which compute all rows in one batch",
        source: "https://docs.pytorch.org/docs/stable/func.html",
    },
    Part {
        signs: &[
            Host("torch/_functorch/eager_transforms.py:jac"),
            Host("torch/_functorch/eager_transforms.py:hessian"),
            Host("torch/_functorch/eager_transforms.py:_chunked_standard_basis"),
        ],
        pass: Any,
        does: "takes whole Hessians or Jacobians (`torch.func.hessian`, `jacrev`, `jacfwd`)",
        why: "each row or column is a derivative of its own, and a Hessian has as many as there are parameters",
        help: "if the matrix is only multiplied by a vector, take that product: `torch.func.jvp` or `vjp` for a Jacobian, and for a Hessian-vector product `torch.func.jvp(torch.func.grad(f), (x,), (v,))`",
        source: "https://docs.pytorch.org/docs/stable/func.html",
    },
    Part {
        signs: &[Host("torch/optim/lbfgs.py")],
        pass: Any,
        does: "goes to L-BFGS steps (`torch.optim.LBFGS`)",
        why: "each step evaluates the loss and its gradient up to `max_iter` times, or more with a line search",
        help: "lower `max_iter` or `max_eval`, set `line_search_fn=None` if the learning rate is known, or use an optimizer with one evaluation per step (Adam)",
        source: "https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html",
    },
    Part {
        signs: &[Host("flax/nnx/transforms/"), Host("flax/nnx/graph")],
        pass: Any,
        does: "is host time for walking the module graph in Python in every call (`nnx.jit`)",
        why: "`nnx.jit` splits and merges the model and optimizer around every call",
        help: "bind the model and optimizer once with `nnx.cached_partial(train_step, model, optimizer)`, or call `nnx.split` once and `jax.jit` a function of the state",
        source: "https://flax.readthedocs.io/en/latest/guides/performance.html",
    },
    Part {
        signs: &[Host("numpyro/infer/svi.py:SVI.update"), Host("numpyro/infer/svi.py:SVI.stable_update")],
        pass: Any,
        does: "is host time for tracing the model and running it operation by operation (`SVI.update` without `jit`)",
        why: "outside of `jax.jit`, each update runs the effect handlers and dispatches every operation from Python",
        help: "use `jax.jit(svi.update)`, or `svi.run`, which compiles the loop",
        source: "https://num.pyro.ai/en/stable/svi.html",
    },
    Part {
        signs: &[Host("gymnasium/"), Host("gym/")],
        pass: Any,
        does: "is host time in the environment's Python code (`gymnasium`)",
        why: "the program steps one environment at a time, and the device waits for it",
        help: "step many environments at once (`gymnasium.make_vec`, `AsyncVectorEnv`) with one policy batch, or use an environment on the device (gymnax, Brax)",
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
