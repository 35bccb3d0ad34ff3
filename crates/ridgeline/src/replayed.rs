//! The capture with the change of a finding made, event by event; its steps; its collectives with nothing beside them.

use crate::session::Session;
use ridge_analysis::StepRow;
use ridge_diagnose::{Case, Finding, Known, exposed_collectives, retimed};
use ridge_replay::Retimed;
use ridge_trace::EventRow;

impl Session {
    /// When every event would have run with the change of `finding` made, a finding of [`Session::check`].
    ///
    /// # Errors
    /// Why nothing may be shown, a sentence without a period.
    pub fn retimed(&self, finding: &Finding) -> Result<Retimed, String> {
        let known = Known::default();
        self.with_analysis(|analysis| retimed(&Case { analysis: *analysis, known: &known }, finding))
    }

    /// The steps that the program marked, with the device work that each caused.
    pub fn step_rows(&self) -> &[StepRow] {
        &self.analysis().steps().rows
    }

    /// Each collective's event in the judged time, with how long nothing else ran on its device meanwhile, nanoseconds; most
    /// first.
    pub fn exposed_collectives(&self) -> Vec<(EventRow, i64)> {
        self.with_analysis(exposed_collectives)
    }
}
