//! Run one benchmark from the command line: `bench_once SUITE OUT PYTHON SIZES [OPS [BUDGET_S [VARIANT]]]`, lists with commas.
//!
//! It prints one line per finished row. The command `ridgeline bench` is the one for users.

use std::env;
use std::time::Duration;

use ridge_record::bench::{BenchEvent, BenchOptions, BenchStatus, bench};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [suite, out, python, sizes, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: bench_once SUITE OUT PYTHON SIZES [OPS [BUDGET_S [VARIANT]]]");
        std::process::exit(2);
    };
    let list = |text: &str| text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let options = BenchOptions {
        python: Some(python.into()),
        sizes: list(sizes).iter().filter_map(|size| size.parse().ok()).collect(),
        operations: rest.first().map(|operations| list(operations)).unwrap_or_default(),
        budget: rest.get(1).and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs_f64),
        variant: rest.get(2).cloned(),
        ..BenchOptions::new(suite, out)
    };
    match bench(&options, &mut print) {
        Ok(outcome) => println!("{} failed; {}", outcome.failed(), outcome.results.display()),
        Err(error) => {
            eprintln!("error: {error}");
            error.hints().iter().for_each(|hint| eprintln!("hint: {hint}"));
            std::process::exit(2);
        }
    }
}

fn print(event: BenchEvent) {
    match event {
        BenchEvent::OperationDone { size, operation, status } => println!("{size:>4} {operation:32} {}", told(&status)),
        BenchEvent::Interrupted => println!("interrupted"),
        _ => {}
    }
}

fn told(status: &BenchStatus) -> String {
    match status {
        BenchStatus::Ok { runs, median_s, spread_s, compile_s, peak_rss_bytes, .. } => format!(
            "{median_s:.6} s ± {spread_s:.6} of {runs}, compile {:.2} s, peak {} MB",
            compile_s.unwrap_or(0.0),
            peak_rss_bytes.unwrap_or(0) / 1_000_000
        ),
        BenchStatus::Failed { reason } => format!("failed: {reason}"),
        BenchStatus::NotRun { reason } => reason.clone(),
    }
}
