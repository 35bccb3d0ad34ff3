//! Measured savings in the place of predicted ones, and beside them in the local record.

use super::Experiment;
use super::changes::ChangeKind;
use super::effect::ExperimentEffect;
use super::sample::ExperimentResults;
use crate::check::Check;
use crate::trial::Tested;
use ridge_analysis::Per;
use ridge_diagnose::{Saving, SavingBasis};
use ridge_units::Share;
use serde_json::Value;

/// Gains below this part of the time are not held against a prediction, as in the published record.
const LEAST_GAIN: f64 = 0.02;

/// Why savings that were measured cannot be shown.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MeasuredError(String);

impl Experiment {
    /// Puts what was measured in the place of what was predicted.
    pub fn measure(&mut self) {
        let Some(check) = &mut self.check else { return };
        let (unit_ns, per) = (check.diagnosis.frame.unit_ns(), check.diagnosis.frame.per);
        for (finding, change) in &self.chosen {
            let (plan, tried) = (&self.planned[*change], &self.tried[*change]);
            let Some(found) = tried.effect.as_ref().filter(|_| tried.is_measured) else { continue };
            let Some(ends) = found.ends else { continue };
            let last = self.samples.iter().rfind(|sample| sample.change == Some(*change));
            let words = words(plan.change.name, plan.change.kind, found, last.and_then(|last| last.results.as_ref()));
            let Some(finding) = finding.and_then(|at| check.diagnosis.findings.get_mut(at)) else { continue };
            finding.saving = Some(measured(ends, unit_ns, per));
            let more = finding.clone().fact(words);
            *finding = more;
        }
    }
}

fn measured((low, high): (f64, f64), unit_ns: i64, per: Per) -> Saving {
    // A loss saves nothing, and nothing saves more than there is.
    let (low, high) = (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0));
    let of_unit = |part: f64| (part * unit_ns as f64) as i64;
    Saving {
        low_ns: of_unit(low),
        high_ns: of_unit(high),
        share_low: low,
        share_high: high,
        per,
        basis: SavingBasis::Measured,
        refused: None,
    }
}

fn words(name: &str, kind: ChangeKind, found: &ExperimentEffect, results: Option<&ExperimentResults>) -> String {
    let does = match kind {
        ChangeKind::Real => "saves",
        ChangeKind::LeftOut => "leaves out",
        ChangeKind::Doubled => "doubles work of",
    };
    let agrees = results.map_or("", |results| match (results.state, results.agree()) {
        ("not compared", _) => "; the program prints no results to compare",
        (_, true) => "; results agree",
        (_, false) => "; RESULTS DIFFER",
    });
    format!("experiment `{name}` {does} {} of {}{agrees}", Share(found.saved).rounded(), found.what())
}

impl Check {
    /// Takes measured savings from the document of an experiment, by rule and place; the count of those that were found.
    ///
    /// # Errors
    /// [`MeasuredError`] where `text` is no document of an experiment.
    pub fn with_measured(&mut self, text: &str) -> Result<usize, MeasuredError> {
        let failed = |why: String| MeasuredError(format!("not the document of an experiment: {why}"));
        let document: Value = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
        if document["schema"] != "ridgeline.experiment.v1" {
            return Err(failed("it has another schema".to_owned()));
        }
        let (unit_ns, per) = (self.diagnosis.frame.unit_ns(), self.diagnosis.frame.per);
        let mut count = 0;
        for known in document["findings"].as_array().into_iter().flatten() {
            let saving = &known["saving"];
            let number = |name: &str| saving[name].as_f64().filter(|part| part.is_finite());
            let Some(ends) = number("share_low").zip(number("share_high")) else { continue };
            let fingerprint = known["fingerprint"].as_str().unwrap_or_default();
            let same = self.shown.iter().position(|shown| shown.fingerprint == fingerprint);
            let Some(at) = same.filter(|_| saving["basis"] == SavingBasis::Measured.name()) else { continue };
            self.diagnosis.findings[at].saving = Some(measured(ends, unit_ns, per));
            count += 1;
        }
        Ok(count)
    }
}

/// What the experiments in a document say of predictions, for the local record.
pub fn tested_by(document: &Value) -> Vec<(String, Tested)> {
    let rows = document["experiments"].as_array().into_iter().flatten();
    rows.filter_map(|row| {
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite());
        let (predicted, saved) = (&row["predicted"], number(&row["saved"])?);
        let (low, high) = (number(&row["saved_low"])?, number(&row["saved_high"])?);
        let basis = predicted["basis"].as_str()?;
        let (least, most) = (number(&predicted["share_low"])?, number(&predicted["share_high"])?);
        let middle = (least + most) / 2.0;
        let amount = if basis == "wall" { number(&predicted["holds_share"]).unwrap_or(middle) } else { middle };
        let is_tested = basis != "bound" && low > 0.0 && saved >= LEAST_GAIN;
        let tested = Tested {
            rule: row["rule"].as_str()?.to_owned(),
            message: row["message"].as_str().unwrap_or_default().to_owned(),
            basis: basis.to_owned(),
            predicted: amount,
            predicted_low: least,
            predicted_high: most,
            measured: saved,
            measured_low: low,
            measured_high: high,
            ratio: is_tested.then(|| amount / saved),
        };
        Some((row["change"].as_str().unwrap_or_default().to_owned(), tested))
    })
    .collect()
}
