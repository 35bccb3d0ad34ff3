//! What `ridgeline doctor` found, for a terminal ([`text`]) and for programs ([`json`]).

use crate::json::laid_out;
use crate::terminal::{Layout, styled, wrapped};
use ridgeline::escape::escape_controls;
use serde_json::json;

/// Name and version of the schema of [`json`].
pub const DOCTOR_SCHEMA: &str = "ridgeline.doctor.v1";

/// Columns of the word for a state.
const STATE: usize = 9;
/// Columns of the names.
const NAME: usize = 20;

/// One thing that was looked at.
#[derive(Debug, Clone)]
pub struct Line {
    /// What.
    pub name: &'static str,
    /// `fine`, `limited` or `missing`.
    pub state: &'static str,
    /// What was found.
    pub found: String,
    /// What its absence costs.
    pub cost: Option<&'static str>,
    /// What mends it.
    pub fix: Option<String>,
}

/// All lines, as a `ridgeline.doctor.v1` document.
pub fn json(lines: &[Line]) -> String {
    let checks = lines.iter().map(|line| {
        json!({ "name": line.name, "state": line.state, "found": line.found, "cost": line.cost, "fix": line.fix })
    });
    laid_out(&json!({ "schema": DOCTOR_SCHEMA, "checks": checks.collect::<Vec<_>>() }))
}

/// A line each; below what is not as it should be, what that costs and what mends it.
pub fn text(lines: &[Line], layout: &Layout) -> String {
    lines.iter().map(|line| block(line, layout)).collect()
}

fn block(line: &Line, layout: &Layout) -> String {
    let style = match line.state {
        "fine" => layout.theme.header,
        "limited" => layout.theme.partial,
        _ => layout.theme.lost,
    };
    let margin = STATE + NAME;
    let padded = format!("{:STATE$}", line.state);
    let mut text = format!("{}{:NAME$}", styled(style, &padded), line.name);
    let mut add = |said: &str, is_first: bool| {
        let found = wrapped(&escape_controls(said), layout.width.saturating_sub(margin).max(NAME));
        for (row, part) in found.iter().enumerate() {
            let before = if is_first && row == 0 { String::new() } else { " ".repeat(margin) };
            text.push_str(&format!("{before}{part}\n"));
        }
    };
    add(&line.found, true);
    if let Some(cost) = line.cost {
        add(&format!("cost: {cost}"), false);
    }
    if let Some(fix) = &line.fix {
        // A command stands on one line, whatever the width, so that it can be copied.
        text.push_str(&format!("{}fix:  {}\n", " ".repeat(margin), styled(layout.theme.quiet, &escape_controls(fix))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn what_is_missing_says_what_it_costs() {
        let lines = [
            Line { name: "jax", state: "fine", found: "0.10.1, 1 cpu (cpu)".to_owned(), cost: None, fix: None },
            Line {
                name: "gpu",
                state: "missing",
                found: "no device file of an NVIDIA or AMD GPU".to_owned(),
                cost: Some("only work on the CPU is recorded"),
                fix: Some("start the container with `--gpus all` (needs the NVIDIA Container Toolkit)".to_owned()),
            },
        ];
        expect![[r#"
            fine     jax                 0.10.1, 1 cpu (cpu)
            missing  gpu                 no device file of an NVIDIA or
                                         AMD GPU
                                         cost: only work on the CPU is
                                         recorded
                                         fix:  start the container with `--gpus all` (needs the NVIDIA Container Toolkit)
        "#]]
        .assert_eq(&text(&lines, &Layout::plain(60)));
    }
}
