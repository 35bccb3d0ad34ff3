//! Libraries of the host that call the program's functions back and need each value to decide what comes next, such as the
//! optimizers of SciPy: what waits for such a value cannot be moved.

use crate::case::Case;
use crate::finding::{Finding, Place};
use ridge_analysis::PythonLooks;
use ridge_trace::PythonStack;

/// Packages whose functions call back and decide by what they are given.
const STEERING: [&str; 8] =
    ["scipy.optimize.", "scipy.integrate.", "nlopt.", "pybobyqa.", "cma.", "emcee.", "lmfit.", "iminuit."];
/// Fewer looks say nothing.
const FEWEST: u64 = 3;

impl<'a> Case<'a> {
    /// The library's call in whose callback, or in which, `stack` stands: the innermost such.
    pub(crate) fn steering_call(&self, stack: &PythonStack) -> Option<&'a str> {
        let trace = self.trace();
        let calls = stack.places.iter().filter_map(|row| trace.python.places.get(*row as usize));
        let mut calls = calls.map(|place| trace.strings.get(place.call));
        calls.find(|call| STEERING.iter().any(|package| call.starts_with(package)))
    }

    /// The library's call that calls the program back at `place`, where most looks that found the program there say so.
    pub(crate) fn steered_at(&self, place: Option<&Place>) -> Option<&'a str> {
        let (place, trace) = (place?, self.trace());
        let (mut all, mut steered, mut named) = (0_u64, 0_u64, None);
        for (row, count) in self.analysis.get::<PythonLooks>().all() {
            let Some(stack) = trace.python.stacks.get(*row as usize) else { continue };
            let is_there = stack.places.iter().filter_map(|row| trace.python.places.get(*row as usize));
            let mut is_there = is_there.map(|found| (trace.strings.get(found.file), found.line));
            if !is_there.any(|(file, line)| file == place.file && line == place.line) {
                continue;
            }
            all += count;
            if let Some(call) = self.steering_call(stack) {
                steered += count;
                named = named.or(Some(call));
            }
        }
        named.filter(|_| steered >= FEWEST && steered * 2 > all)
    }

    /// `finding` as no more than information, where a library of the host needs each value for its next step.
    pub(crate) fn unless_steered(&self, finding: Finding) -> Finding {
        let Some(call) = self.steered_at(finding.place.as_ref()) else { return finding };
        let function = call.rsplit('.').next().unwrap_or(call);
        finding
            .fact(format!("`{function}` calls this line and needs each value for its next step"))
            .help("a host-side optimizer or integrator needs every value: return more per call (value and gradient, `jac=True`), or use one that runs on the device in one `jax.jit` (`optax.lbfgs`, `jax.scipy.optimize.minimize`, optimistix, diffrax)")
            .information()
    }
}
