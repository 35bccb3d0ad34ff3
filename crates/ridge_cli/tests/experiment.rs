//! `ridgeline experiment`: what it runs, what it says of that, and what it ends with. Times are the machine's and are not asserted.

mod run;
#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;

use run::{Ran, finish, ridgeline};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Numbers are fetched in each iteration, and another name keeps the state.
const PROGRAM: &str = "\
import jax, jax.numpy as jnp
step = jax.jit(lambda x: x.at[0].set(x[1] + 1.0))
x, log = jnp.zeros((64, 64)), []
for i in range(2000):
    x = step(x)
    log.append(float(x[0, 0]))
print('result', sum(log))
";

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::write(place.0.path().join("program.py"), PROGRAM).expect("written");
        place
    }

    fn measure(&self, options: &[&str], command: &[&str]) -> Ran {
        let mut program = ridgeline(&["experiment"]);
        program.args(options).arg("--").args(command).current_dir(self.0.path());
        program.env("XDG_DATA_HOME", self.0.path().join("data")).env("JAX_PLATFORMS", "cpu");
        finish(program)
    }
}

/// A Python that has JAX.
fn python() -> Option<String> {
    let named = std::env::var("RIDGELINE_JAX_PYTHON").ok();
    let environment = std::env::var("VIRTUAL_ENV").ok().map(|folder| format!("{folder}/bin/python"));
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python").to_owned();
    let mut all = named.into_iter().chain(environment).chain([own, "python3".to_owned()]);
    all.find(|python| {
        let mut command = Command::new(python);
        command.args(["-c", "import jax"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

fn document(ran: &Ran) -> Value {
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/experiment.v1.schema.json");
    let page: Value = serde_json::from_str(&fs::read_to_string(page).expect("the schema's page")).expect("JSON");
    assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
    document
}

#[test]
fn changes_that_are_named_take_turns_with_the_program() {
    let test = "changes_that_are_named_take_turns_with_the_program";
    let Some(python) = python() else { return println!("skipped: {test}: no Python with jax") };
    let place = Place::new();
    let asked =
        ["--change", "late", "--change", "prefetch", "--rounds", "2", "--until", "0%", "-o", "out", "-f", "json"];
    let ran = place.measure(&asked, &[&python, "program.py"]);
    let found = document(&ran);
    let runs: Vec<&str> =
        found["runs"].as_array().expect("runs").iter().map(|run| run["change"].as_str().unwrap_or("-")).collect();
    assert_eq!(runs, ["-", "late", "prefetch", "-", "late", "-", "-", "late"], "{}", ran.stderr);
    let late = &found["changes"][0];
    assert_eq!((&late["is_measured"], &late["results"]["state"]), (&Value::Bool(true), &Value::from("same")));
    assert_eq!(late["effect"]["iterations"], 1999);
    assert_eq!(found["changes"][1]["why_not"], "nothing that it changes is there");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(place.0.path().join("program.py")).expect("the program"), PROGRAM);
    assert_eq!(fs::read_to_string(place.0.path().join("out/experiment.json")).expect("the document"), ran.stdout);
}

#[test]
fn what_cannot_be_run_is_said() {
    let place = Place::new();
    let refused = |options: &[&str], command: &[&str], expected: &str| {
        let ran = place.measure(options, command);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    };
    refused(&["--change", "nothing"], &["true"], "unknown change `nothing`");
    refused(&["--finding", "nothing"], &["true"], "unknown rule `nothing`");
    refused(&["--change", "late", "-o", "new"], &["false"], "the unchanged program ended with 1");
    refused(&["--change", "late", "-o", "new"], &["true"], "nothing can be changed from outside");
    refused(&["--change", "late", "-o", "."], &["true"], "the directory has other files");
}
