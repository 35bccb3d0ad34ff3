//! An operation that compiles again when it is called again, which no warm-up helps.

use crate::bench::{BenchRow, RowStatus};
use std::fmt;

/// What the traced and the timed runs of an operation compiled, after its first run had compiled all that it needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Recompiles {
    /// Modules that were compiled.
    pub modules: u64,
    /// Runs that they were compiled in.
    pub calls: u64,
    /// Time in the compiler, summed over modules, seconds.
    pub compile_s: f64,
    /// Time of those runs, seconds; `None` where the recorder did not keep it.
    pub runs_s: Option<f64>,
    /// The module compiled most often, and how often.
    pub most_often: Option<(String, u64)>,
}

impl BenchRow {
    /// What it compiled again; `None` where it compiled nothing, or that is not known.
    pub fn recompiles(&self) -> Option<Recompiles> {
        let modules = self.late_modules.filter(|modules| *modules > 0 && self.status == RowStatus::Ok)?;
        let counted = self.late_names.iter().filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)));
        Some(Recompiles {
            modules,
            calls: u64::from(self.runs) + self.traces.len().min(1) as u64,
            compile_s: self.late_compile_s.unwrap_or(0.0),
            runs_s: self.late_runs_s,
            most_often: counted.max_by_key(|(_, count)| *count),
        })
    }
}

/// `compiles again at every call: 48 modules in 4 calls (most often jit__lambda, 40), 3.4 of 4.7 s`
impl fmt::Display for Recompiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how =
            if self.modules >= self.calls { "compiles again at every call" } else { "compiles after its first call" };
        write!(f, "{how}: {} in {}", counted(self.modules, "module"), counted(self.calls, "call"))?;
        if let Some((name, count)) = &self.most_often {
            write!(f, " (most often {name}, {count})")?;
        }
        match self.runs_s {
            Some(runs_s) => write!(f, ", {:.2} of {runs_s:.2} s", self.compile_s),
            None => write!(f, ", {:.2} s", self.compile_s),
        }
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_again_is_told_with_its_part_of_the_time() {
        let row = |late: u64, more: &str| -> BenchRow {
            let text = format!(
                r#"{{"operation":"a","volume_size":64,"status":"ok","runs":3,"traces":["x"],"late_modules":{late},"late_compile_s":3.4{more}}}"#
            );
            serde_json::from_str(&text).expect("a row")
        };
        let told = |row: BenchRow| row.recompiles().map(|found| found.to_string());
        assert_eq!(told(row(0, "")), None);
        assert_eq!(told(row(1, "")).as_deref(), Some("compiles after its first call: 1 module in 4 calls, 3.40 s"));
        let more = r#","late_runs_s":4.7,"late_names":{"jit_f":1,"jit__lambda":40}"#;
        let expected =
            "compiles again at every call: 48 modules in 4 calls (most often jit__lambda, 40), 3.40 of 4.70 s";
        assert_eq!(told(row(48, more)).as_deref(), Some(expected));
    }
}
