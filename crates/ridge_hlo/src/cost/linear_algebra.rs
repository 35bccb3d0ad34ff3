//! How many operations the routines of LAPACK and its kin take.
//!
//! Factorizations are exact polynomials of their sizes, from LAPACK Working Note 41 ("Installation Guide for LAPACK",
//! appendix C, <https://www.netlib.org/lapack/lawnspdf/lawn41.pdf>); quotients and roots count as products there.
//! Decompositions that iterate have the counts of Golub and Van Loan, "Matrix Computations", 4th edition.

/// Products and sums of one problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Operations {
    pub(super) products: f64,
    pub(super) sums: f64,
}

impl Operations {
    fn new(products: f64, sums: f64) -> Operations {
        // The polynomials hold from size 1 on; at 0 some are below it. All are whole sixths.
        let sixths = |count: f64| (count.max(0.0) * 6.0).round() / 6.0;
        Operations { products: sixths(products), sums: sixths(sums) }
    }

    /// Half of `flops` each.
    fn even(flops: f64) -> Operations {
        Operations::new(flops / 2.0, flops / 2.0)
    }
}

/// Cholesky factorization of order `n`: n³/3 to leading order.
pub(super) fn potrf(n: f64) -> Operations {
    Operations::new(n * n * n / 6.0 + n * n / 2.0 + n / 3.0, n * n * n / 6.0 - n / 6.0)
}

/// Triangular solve of order `n` for one right-hand side: n² operations.
pub(super) fn trsm(n: f64, has_unit_diagonal: bool) -> Operations {
    let below = n * (n - 1.0) / 2.0;
    // Each pivot is divided by, unless it is one.
    Operations::new(if has_unit_diagonal { below } else { below + n }, below)
}

/// LU factorization with row exchanges, `m` by `n`: 2n³/3 to leading order where square.
pub(super) fn getrf(m: f64, n: f64) -> Operations {
    let (long, short) = (m.max(n), m.min(n));
    let cubic = long * short * short / 2.0 - short * short * short / 6.0;
    Operations::new(cubic + m * n / 2.0 - short * short / 2.0 + 2.0 * short / 3.0, cubic - m * n / 2.0 + short / 6.0)
}

/// QR factorization, `m` by `n`: 2n²(m − n/3) to leading order where m ≥ n.
pub(super) fn geqrf(m: f64, n: f64) -> Operations {
    if m >= n {
        let cubic = m * n * n - n * n * n / 3.0;
        Operations::new(cubic + m * n + n * n / 2.0 + 23.0 * n / 6.0, cubic + n * n / 2.0 + 5.0 * n / 6.0)
    } else {
        let cubic = n * m * m - m * m * m / 3.0;
        Operations::new(cubic + 2.0 * n * m - m * m / 2.0 + 23.0 * m / 6.0, cubic + n * m - m * m / 2.0 + 5.0 * m / 6.0)
    }
}

/// The first `n` columns of the orthogonal factor of `k` reflections of length `m`: 4n³/3 where square.
pub(super) fn orgqr(m: f64, n: f64, k: f64) -> Operations {
    let cubic = 2.0 * m * n * k - (m + n) * k * k + 2.0 * k * k * k / 3.0;
    Operations::new(cubic + 2.0 * n * k - k * k - 5.0 * k / 3.0, cubic + n * k - m * k + k / 3.0)
}

/// Reduction of a symmetric matrix of order `n` to tridiagonal form: 4n³/3 to leading order.
pub(super) fn sytrd(n: f64) -> Operations {
    Operations::new(
        2.0 * n * n * n / 3.0 + 5.0 * n * n / 2.0 - n / 6.0 - 15.0,
        2.0 * n * n * n / 3.0 + n * n - 8.0 * n / 3.0 - 4.0,
    )
}

/// Reduction of a matrix of order `n` to Hessenberg form: 10n³/3 to leading order.
pub(super) fn gehrd(n: f64) -> Operations {
    Operations::new(
        5.0 * n * n * n / 3.0 + n * n / 2.0 - 7.0 * n / 6.0 - 13.0,
        5.0 * n * n * n / 3.0 - n * n - 2.0 * n / 3.0 - 8.0,
    )
}

/// What an iterative decomposition returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Eigenvalues or singular values alone.
    Values,
    /// Vectors too; of a singular value decomposition as many as there are values.
    Vectors,
    /// All vectors of a singular value decomposition.
    AllVectors,
}

/// Eigenvalues of a symmetric matrix: 4n³/3, with vectors 9n³ (Golub and Van Loan, section 8.3).
pub(super) fn symmetric_eigen(n: f64, wanted: Wanted) -> Operations {
    Operations::even(if wanted == Wanted::Values { 4.0 * n * n * n / 3.0 } else { 9.0 * n * n * n })
}

/// Eigenvalues of a general matrix: 10n³, with Schur vectors 25n³ (Golub and Van Loan, section 7.5).
pub(super) fn general_eigen(n: f64, wanted: Wanted) -> Operations {
    Operations::even(if wanted == Wanted::Values { 10.0 * n * n * n } else { 25.0 * n * n * n })
}

/// Singular values of an `m` by `n` matrix (Golub and Van Loan, figure 8.6.1, the Golub-Reinsch and R-SVD columns).
///
/// Values 4mn² − 4n³/3, thin vectors 14mn² + 8n³, all vectors 4m²n + 8mn² + 9n³, for m ≥ n.
pub(super) fn singular_values(m: f64, n: f64, wanted: Wanted) -> Operations {
    let (m, n) = (m.max(n), m.min(n));
    Operations::even(match wanted {
        Wanted::Values => 4.0 * m * n * n - 4.0 * n * n * n / 3.0,
        Wanted::Vectors => 14.0 * m * n * n + 8.0 * n * n * n,
        Wanted::AllVectors => 4.0 * m * m * n + 8.0 * m * n * n + 9.0 * n * n * n,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flops(operations: Operations) -> f64 {
        operations.products + operations.sums
    }

    #[test]
    fn small_problems_by_hand() {
        // Order 1: a root. Order 2: two roots, a quotient, a square and a difference.
        assert_eq!(potrf(1.0), Operations { products: 1.0, sums: 0.0 });
        assert_eq!(potrf(2.0), Operations { products: 4.0, sums: 1.0 });
        // Order 2: a product, a difference, and two quotients.
        assert_eq!(trsm(2.0, false), Operations { products: 3.0, sums: 1.0 });
        assert_eq!(trsm(2.0, true), Operations { products: 1.0, sums: 1.0 });
    }

    /// LU by the book: per step a reciprocal, a scaling of the column below and an outer product.
    fn counted_lu(m: usize, n: usize) -> (usize, usize) {
        (0..m.min(n)).fold((0, 0), |(products, sums), step| {
            let (below, right) = (m - step - 1, n - step - 1);
            (products + 1 + below + below * right, sums + below * right)
        })
    }

    #[test]
    fn lu_is_what_counting_gives() {
        for (m, n) in [(1, 1), (2, 2), (5, 3), (8, 8), (9, 2)] {
            let (products, sums) = counted_lu(m, n);
            let model = getrf(m as f64, n as f64);
            assert!((model.sums - sums as f64).abs() < 1e-9, "{m} by {n}: {model:?}");
            assert!((model.products - products as f64).abs() < 1e-9, "{m} by {n}: {model:?}");
        }
    }

    #[test]
    fn leading_terms() {
        let n = 1e4;
        let ratio = |operations: Operations, leading: f64| flops(operations) / (leading * n * n * n);
        for (operations, leading) in [
            (potrf(n), 1.0 / 3.0),
            (getrf(n, n), 2.0 / 3.0),
            (geqrf(n, n), 4.0 / 3.0),
            (orgqr(n, n, n), 4.0 / 3.0),
            (sytrd(n), 4.0 / 3.0),
            (gehrd(n), 10.0 / 3.0),
        ] {
            assert!((ratio(operations, leading) - 1.0).abs() < 1e-3, "{operations:?}");
        }
    }
}
