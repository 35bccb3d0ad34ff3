//! `ridgeline handoff emulate`: what it replaces, what it says of that, and what it never runs.

mod run;
#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;

use ridge_hlo::HloModule;
use ridgeline::handing_over::bundle::{MANIFEST, Source, files, manifest, write};
use ridgeline::handing_over::lower;
use run::{Ran, finish, ridgeline};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The middle of each three neighbors.
const SMOOTH: &str = "HloModule jit_smooth\n
%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

ENTRY %main (x: f32[18]) -> f32[16] {
  %x = f32[18]{0} parameter(0)
  %s0 = f32[16]{0} slice(%x), slice={[0:16]}
  %s1 = f32[16]{0} slice(%x), slice={[1:17]}
  %s2 = f32[16]{0} slice(%x), slice={[2:18]}
  %r0 = f32[1,16]{1,0} reshape(%s0)
  %r1 = f32[1,16]{1,0} reshape(%s1)
  %r2 = f32[1,16]{1,0} reshape(%s2)
  %all = f32[3,16]{1,0} concatenate(%r0, %r1, %r2), dimensions={0}
  %sorted = f32[3,16]{1,0} sort(%all), dimensions={0}, to_apply=%less
  %mid = f32[1,16]{1,0} slice(%sorted), slice={[1:2], [0:16]}
  ROOT %flat = f32[16]{0} bitcast(%mid)
}
";

/// The same in a program: three times inside of something larger, once by itself, once with another shape.
const PROGRAM: &str = "\
import jax, jax.numpy as jnp, numpy as np, ridgeline

@ridgeline.region('smooth')
def smooth(x):
    return jnp.sort(jnp.stack([x[:-2], x[1:-1], x[2:]]), axis=0)[1]

@jax.jit
def step(x):
    return 0.5 * x + 0.5 * jnp.pad(smooth(x), 1)

x = jnp.asarray(np.sin(np.arange(18, dtype=np.float32)))
for _ in range(3):
    x = step(x)
smooth(x)
smooth(jnp.ones(10))
ridgeline.result('x', x)
np.save('x.npy', np.asarray(x))
print('done')
";

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::write(place.0.path().join("program.py"), PROGRAM).expect("written");
        let module = HloModule::from_text(SMOOTH).expect("HLO");
        let source = Source {
            region: "smooth".to_owned(),
            module: module.name.clone(),
            computation: "main".to_owned(),
            is_whole: true,
            hlo: module.to_text(),
            region_hlo: module.to_text(),
            ..Source::default()
        };
        let program = lower(&module, module.entry.expect("an entry")).expect("a program");
        let files = files(&program, &source, &["fixed<16,8>".parse().expect("a format")], &mut |_| {}).expect("files");
        write(&files, &place.bundle()).expect("written");
        fs::write(place.bundle().join(MANIFEST), manifest(&files, &source, None, &json!({}), &[])).expect("written");
        place
    }

    fn bundle(&self) -> PathBuf {
        self.0.path().join("smooth.handoff")
    }

    fn emulate(&self, options: &[&str], command: &[&str]) -> Ran {
        let mut program = ridgeline(&["handoff", "emulate", "smooth.handoff"]);
        program.args(options).arg("--").args(command).current_dir(self.0.path());
        finish(program)
    }
}

fn document(ran: &Ran) -> Value {
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/emulation.v1.schema.json");
    let page: Value = serde_json::from_str(&fs::read_to_string(page).expect("the schema's page")).expect("JSON");
    assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
    document
}

fn has(tool: &str, flag: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg(flag).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A Python that has JAX.
fn python() -> Option<String> {
    let named = std::env::var("RIDGELINE_JAX_PYTHON").ok();
    let environment = std::env::var("VIRTUAL_ENV").ok().map(|folder| format!("{folder}/bin/python"));
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python").to_owned();
    let mut all = named.into_iter().chain(environment).chain([own, "python3".to_owned()]);
    all.find(|python| {
        let mut command = Command::new(python);
        command.args(["-c", "import jax.ffi"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

#[test]
fn a_region_that_the_program_names_is_replaced() {
    let test = "a_region_that_the_program_names_is_replaced";
    if !has("g++", "--version") {
        return println!("skipped: {test}: no g++");
    }
    let Some(python) = python() else { return println!("skipped: {test}: no Python with jax") };
    let place = Place::new();
    let ran = place.emulate(&["--format", "json", "--output", "x.npy"], &[&python, "program.py"]);
    let found = document(&ran);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    let other = json!([{ "name": "smooth", "ports": "f32[10] -> f32[8]" }]);
    for (run, format) in found["replaced"].as_array().expect("runs").iter().zip([Value::Null, json!("fixed<16,8>")]) {
        assert_eq!((&run["format"], &run["calls"], &run["other_calls"]), (&format, &json!(4), &json!(1)));
        assert_eq!((&run["events"]["hooks"], &run["events"]["others"]), (&json!(["smooth"]), &other));
        assert_eq!(run["outputs"][0]["values"], 64);
        let names: Vec<&str> =
            run["results"].as_array().expect("results").iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, ["x", "x.npy"]);
        let same = |difference: &Value| difference["same"] == difference["values"];
        let off = |difference: &Value| difference["largest"].as_f64().expect("a number");
        let (region, result) = (&run["outputs"][0], &run["results"][0]["difference"]);
        if format.is_null() {
            assert!(same(region) && same(result), "{run:#}");
        } else {
            // Half of the last bit, which is 2^-8: rounding is all that a sort does to a number.
            assert!(!same(region) && off(region) <= 0.001_953_2 && off(region) > 0.0, "{run:#}");
            assert!(!same(result) && off(result) <= 0.004, "{run:#}");
        }
    }
    // The file is as the unmodified program wrote it.
    let read = |path: PathBuf| fs::read(path).expect("a file");
    let kept = place.0.path().join("kept");
    let ran = place.emulate(&["--keep", "kept", "--output", "x.npy", "--color", "never"], &[&python, "program.py"]);
    assert_eq!(read(place.0.path().join("x.npy")), read(kept.join("original/results/x.001.npy")));
    assert_ne!(read(place.0.path().join("x.npy")), read(kept.join("fixed_16_8/results/x.001.npy")));
    assert!(ran.stdout.starts_with("done\nsmooth in `"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the region produces the same bits: all 64 values"), "{}", ran.stdout);
}

#[test]
fn where_nothing_can_be_replaced_the_command_says_why() {
    if !has("g++", "--version") {
        return println!("skipped: where_nothing_can_be_replaced_the_command_says_why: no g++");
    }
    let place = Place::new();
    let ran = place.emulate(&["--json"], &["true"]);
    let found = document(&ran);
    assert_eq!((ran.code, found["replaced"].as_array().map(Vec::len)), (Some(1), Some(0)));
    let why = found["problems"][0].as_str().expect("a problem");
    assert!(why.starts_with("no Python process loaded the harness"), "{why}");
    let ran = place.emulate(&["--json"], &["false"]);
    assert_eq!(document(&ran)["original"]["status"]["exit_code"], 1);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_bundle_that_was_changed_runs_nothing() {
    let place = Place::new();
    let kernel = place.bundle().join("hls/kernel.cpp");
    let mut bytes = fs::read(&kernel).expect("read");
    bytes[100] ^= 1;
    fs::write(&kernel, bytes).expect("written");
    let ran = place.emulate(&[], &["touch", "was_run"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("hls/kernel.cpp is not the original file"), "{}", ran.stderr);
    assert!(!place.0.path().join("was_run").exists());
}
