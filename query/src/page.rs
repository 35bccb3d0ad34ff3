//! A page of a dataset in one file: a heat map of step times by host, the hosts unlike the others, and the findings.
//!
//! The page is drawn by its own script from the numbers in it, and reads nothing else.

use crate::dataset::Dataset;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::fleet::{self, Fleet};
use crate::output::Rows;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Cells of a job that a page has at most; beyond that a column is several steps.
const MOST_CELLS: usize = 500_000;

/// Writes the page of `dataset` to `path`.
pub(crate) async fn write(engine: &Engine, dataset: &'static Dataset, path: &Path) -> Result<(), Failure> {
    let mut answers = Vec::new();
    for question in [Fleet::Steps, Fleet::Hosts, Fleet::Findings] {
        answers.push(engine.rows(&fleet::statements(dataset, Some(question))).await?);
    }
    let [steps, hosts, findings] = &answers[..] else { return Err(Failure::new("expected three answers")) };
    let text = page(dataset.parts.len(), steps, hosts, findings);
    ridge_files::write(path, text.as_bytes())
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

fn page(captures: usize, steps: &Rows, hosts: &Rows, findings: &Rows) -> String {
    let jobs = jobs(&steps.rows);
    let most = jobs.values().map(|job| job.steps.len() * job.rows.len()).max().unwrap_or(0);
    let each = most.div_ceil(MOST_CELLS).max(1);
    let jobs: Vec<Value> = jobs.iter().map(|(name, job)| job.shown(name, each)).collect();
    let table = |rows: &Rows| json!({ "columns": rows.columns, "rows": rows.rows });
    let data =
        json!({ "captures": captures, "each": each, "jobs": jobs, "hosts": table(hosts), "findings": table(findings) });
    // Names in captures are not the page's own words: none may end the element that holds them.
    include_str!("fleet/page.html").replacen("DATA", &data.to_string().replace('<', "\\u003c"), 1)
}

/// The steps of a job by host and rank, and their times in nanoseconds.
#[derive(Debug, Default)]
struct Job {
    steps: BTreeSet<i64>,
    rows: BTreeMap<(String, i64), BTreeMap<i64, i64>>,
}

fn jobs(rows: &[Vec<Value>]) -> BTreeMap<String, Job> {
    let mut jobs: BTreeMap<String, Job> = BTreeMap::new();
    for row in rows {
        let [Value::String(job), Value::String(host), rank, step, wall, ..] = &row[..] else { continue };
        let (Some(rank), Some(step), Some(wall)) = (rank.as_i64(), step.as_i64(), wall.as_i64()) else { continue };
        let job = jobs.entry(job.clone()).or_default();
        job.steps.insert(step);
        job.rows.entry((host.clone(), rank)).or_default().insert(step, wall);
    }
    jobs
}

impl Job {
    /// The job for the page, a column for each so many steps: the slowest of them.
    fn shown(&self, name: &str, each: usize) -> Value {
        let steps: Vec<i64> = self.steps.iter().copied().collect();
        let row = |((host, rank), walls): (&(String, i64), &BTreeMap<i64, i64>)| {
            let slowest = |steps: &[i64]| steps.iter().filter_map(|step| walls.get(step)).max();
            json!({ "host": host, "rank": rank, "wall_ns": steps.chunks(each).map(slowest).collect::<Vec<_>>() })
        };
        json!({
            "name": name,
            "ranks": self.rows.keys().any(|(_, rank)| *rank > 0),
            "steps": steps.chunks(each).map(|steps| steps[0]).collect::<Vec<_>>(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: Value) -> Rows {
        Rows { columns: Vec::new(), rows: serde_json::from_value(rows).expect("rows") }
    }

    #[test]
    fn steps_are_columns_and_hosts_rows() {
        let steps = rows(json!([
            ["j", "a", 0, 10, 5],
            ["j", "a", 0, 9, 7],
            ["j", "b</script>", 1, 10, 6],
            ["k", "a", 0, null, 1]
        ]));
        let page = page(3, &steps, &rows(json!([])), &rows(json!([])));
        let data =
            page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the numbers");
        let data: Value = serde_json::from_str(data).expect("JSON");
        let expected = json!([{
            "name": "j",
            "ranks": true,
            "steps": [9, 10],
            "rows": [
                { "host": "a", "rank": 0, "wall_ns": [7, 5] },
                { "host": "b</script>", "rank": 1, "wall_ns": [null, 6] },
            ],
        }]);
        assert_eq!(data["jobs"], expected);
    }

    #[test]
    fn many_steps_share_a_column() {
        let steps = rows([3, 9, 4, 1, 8].iter().enumerate().map(|(step, ns)| json!(["j", "a", 0, step, ns])).collect());
        let job = jobs(&steps.rows)["j"].shown("j", 2);
        assert_eq!(job["steps"], json!([0, 2, 4]));
        assert_eq!(job["rows"][0]["wall_ns"], json!([9, 4, 8]));
    }
}
