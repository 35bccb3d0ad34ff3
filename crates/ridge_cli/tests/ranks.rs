//! Several recorders with one folder, as launchers start them: every program runs, and nothing is lost.

mod run;

use run::ridgeline;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Output};

/// Waits until all of `count` programs run, so that they are recorded at the same time.
fn program(count: usize) -> String {
    format!("touch ran-$0; until [ $(ls -d ran-* | wc -l) -ge {count} ]; do :; done")
}

fn start(folder: &Path, rank: usize, count: usize, environment: &[(&str, String)]) -> Child {
    let rank = rank.to_string();
    let mut command = ridgeline(&["record", "-o", "run", "--", "sh", "-c", &program(count), &rank]);
    for name in ["RANK", "WORLD_SIZE", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"] {
        command.env_remove(name);
    }
    let environment = environment.iter().map(|(name, value)| (name, value));
    command.current_dir(folder).envs(environment).spawn().expect("the program starts")
}

fn ended(programs: Vec<Child>) -> Vec<Output> {
    programs.into_iter().map(|program| program.wait_with_output().expect("it ends")).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn manifest(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path.join("manifest.json")).expect("a manifest")).expect("JSON")
}

#[test]
fn ranks_have_a_folder_each_and_one_manifest_that_names_the_missing() {
    for (index, size) in [
        ("RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        // Rank 2 of four is never started.
        let of_rank = |rank: usize| start(folder.path(), rank, 3, &[(index, rank.to_string()), (size, "4".to_owned())]);
        for output in ended([0, 1, 3].map(of_rank).into()) {
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let run = folder.path().join("run");
        assert_eq!(names(&run), ["manifest.json", "rank-0", "rank-1", "rank-3"], "{index}");
        let joined = manifest(&run);
        assert_eq!(
            (&joined["schema"], &joined["finished"]),
            (&manifest(&run.join("rank-1"))["schema"], &Value::Bool(true))
        );
        let missing = joined["missing"].as_array().expect("a list");
        let of_two: Vec<&Value> =
            missing.iter().filter(|one| one["what"].as_str().is_some_and(|what| what.starts_with("rank 2"))).collect();
        assert_eq!(of_two, [&serde_json::json!({"what": "rank 2", "why": "it left no recording"})]);
    }
}

#[test]
fn a_smaller_job_takes_the_place_of_a_larger_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for count in [3, 2] {
        let of_rank = |rank: usize| {
            start(folder.path(), rank, 1, &[("RANK", rank.to_string()), ("WORLD_SIZE", count.to_string())])
        };
        let outputs = ended((0..count).map(of_rank).collect());
        assert!(outputs.iter().all(|output| output.status.success()));
    }
    assert_eq!(names(&folder.path().join("run")), ["manifest.json", "rank-0", "rank-1"]);
}

#[test]
fn processes_that_nobody_numbers_all_run_and_are_all_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let outputs = ended((0..4).map(|rank| start(folder.path(), rank, 4, &[])).collect());
    let said: Vec<String> = outputs.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
    assert!(outputs.iter().all(|output| output.status.success()), "{said:?}");
    let recorded: Vec<String> = names(folder.path()).into_iter().filter(|name| name.starts_with("run")).collect();
    assert_eq!(recorded.len(), 4, "{recorded:?} {said:?}");
    assert!(recorded.iter().skip(1).all(|name| name.starts_with("run.process-")), "{recorded:?}");
    assert!(recorded.iter().all(|name| manifest(&folder.path().join(name))["finished"] == true));
    assert_eq!(said.iter().filter(|said| said.contains("another program is being recorded in")).count(), 3);
}
