//! What the program compiled, how long that took, and what it compiled again and again: from the manifest and the results of a
//! benchmark.

use crate::document::read_document;
use crate::manifest::Manifest;
use crate::note::{Note, Severity, damaged};
use ridge_analysis::{Compilation, CompilingCall};
use ridge_diagnose::CompiledAgain;
use ridge_documents::{BenchResults, BenchRow, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

/// Bytes of a module's text that are searched for its parameters, which its first line names.
const HEAD_BYTES: u64 = 1 << 16;
/// Modules of one name whose texts are looked at.
const MOST_TEXTS: usize = 64;

/// What the recorder says was compiled; reads the beginnings of the modules' texts where a name was compiled more than once.
pub(crate) fn compilations(manifest: &Manifest) -> Vec<Compilation> {
    let mut groups: Vec<(Compilation, Vec<&Module>)> = Vec::new();
    let mut rows: BTreeMap<_, usize> = BTreeMap::new();
    for module in manifest.document.modules.iter().filter(|module| !module.name.is_empty()) {
        let row = *rows.entry((&module.name, &module.operation, module.volume_size)).or_insert(groups.len());
        if row == groups.len() {
            groups.push((none_yet(module), Vec::new()));
        }
        let (group, modules) = &mut groups[row];
        group.count += 1;
        group.untimed += u64::from(module.compile_s.is_none());
        group.compile_s += module.compile_s.unwrap_or(0.0);
        modules.push(module);
    }
    for (group, modules) in groups.iter_mut().filter(|(group, _)| group.count > 1) {
        let some = modules.iter().take(MOST_TEXTS);
        group.parameters = different(some.filter_map(|module| parameters(&manifest.folder, module)));
        group.calls = calls(modules);
    }
    let mut found: Vec<Compilation> = groups.into_iter().map(|(group, _)| group).collect();
    found.sort_by(|a, b| b.compile_s.total_cmp(&a.compile_s));
    found
}

fn none_yet(module: &Module) -> Compilation {
    let (operation, size) = (module.operation.clone(), module.volume_size);
    Compilation { module: module.name.clone(), operation, size, ..Compilation::default() }
}

/// The lines that had `modules` compiled, those first that did so most often.
fn calls(modules: &[&Module]) -> Vec<CompilingCall> {
    let mut found: Vec<CompilingCall> = Vec::new();
    for (at, types) in modules.iter().filter_map(|module| Some((module.at.as_ref()?, &module.types))) {
        let place = found.iter().position(|call| (&call.file, call.line) == (&at.file, at.line));
        let place = place.unwrap_or_else(|| {
            found.push(CompilingCall { file: at.file.clone(), line: at.line, ..CompilingCall::default() });
            found.len() - 1
        });
        let call = &mut found[place];
        call.count += 1;
        if call.types.len() < MOST_TEXTS && !call.types.contains(types) {
            call.types.push(types.clone());
        }
    }
    found.sort_by_key(|call| std::cmp::Reverse(call.count));
    found
}

fn different(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.filter(|text| seen.insert(text.clone())).collect()
}

/// The types of a module's parameters, from the first line of its text.
fn parameters(folder: &Path, module: &Module) -> Option<String> {
    let path = inside(folder, module.dir.as_deref()?)?.join("after.txt");
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?.take(HEAD_BYTES)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(&line);
    let (_, layout) = line.split_once("entry_computation_layout={(")?;
    Some(without_layouts(layout.split_once(")->")?.0))
}

/// `f32[8]{0}` → `f32[8]`.
fn without_layouts(types: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for c in types.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

/// `path` in `folder`; `None` for one that leads out of it.
pub(crate) fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    path.components().all(|part| matches!(part, Component::Normal(_))).then(|| folder.join(path))
}

/// Operations of a benchmark that compile again when they are called again, so that their times are no warm ones; and what
/// cannot be understood of the document that says so.
pub(crate) fn recompiled(folder: &Path) -> (Vec<Note>, Vec<CompiledAgain>) {
    let file = folder.join("results.json");
    let Ok(parsed) = read_document::<BenchResults>(&file) else { return Default::default() };
    let again: Vec<CompiledAgain> = parsed.document.summary.iter().filter_map(compiled_again).collect();
    let name = Some(file.display().to_string());
    let note = |message| Note { severity: Severity::Partial, message, file: name.clone(), offset: None, count: 1 };
    let told = again.iter().map(|again| again.says.clone()).map(note);
    (told.chain(parsed.damaged.iter().map(|damage| damaged(damage, &file))).collect(), again)
}

fn compiled_again(row: &BenchRow) -> Option<CompiledAgain> {
    let again = row.recompiles()?;
    Some(CompiledAgain {
        says: format!("{} at {} {again}", row.operation, row.volume_size),
        compile_ns: (1e9 * again.compile_s / again.calls.max(1) as f64) as i64,
        module: again.most_often.map(|(name, _)| name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_one_name_are_one_row_with_the_parameters_that_changed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = |dir: &str, types: &str| {
            let line = format!(
                "HloModule jit__lambda, is_scheduled=true, entry_computation_layout={{({types})->f32[]}}\n\nENTRY"
            );
            std::fs::create_dir_all(folder.path().join(dir)).expect("made");
            std::fs::write(folder.path().join(dir).join("after.txt"), line).expect("written");
        };
        text("hlo/a.1", "f32[8,2]{1,0:T(8,128)}, s32[]");
        text("hlo/a.2", "f32[16,2]{1,0}, s32[]");
        text("hlo/a.3", "f32[8,2]{1,0}, s32[]");
        let module = |name: &str, dir: &str, compile_s: &str| {
            format!(r#"{{"name":"{name}","dir":"{dir}","compile_s":{compile_s}}}"#)
        };
        let modules = [
            module("jit__lambda", "hlo/a.1", "0.5"),
            module("jit_once", "../../etc", "0.25"),
            module("jit__lambda", "hlo/a.2", "0.5"),
            module("jit__lambda", "hlo/a.3", "null"),
            module("jit__lambda", "hlo/absent", "0.5"),
        ];
        let text = format!(r#"{{"schema":"ridgeline.manifest.v1","modules":[{}]}}"#, modules.join(","));
        let document = ridge_documents::read(text.as_bytes()).expect("a manifest").document;
        let found = compilations(&Manifest { folder: folder.path().to_owned(), document });
        let told: Vec<_> = found
            .iter()
            .map(|row| (row.module.as_str(), row.count, row.compile_s, row.untimed, row.parameters.join("; ")))
            .collect();
        let expected = [
            ("jit__lambda", 4, 1.5, 1, "f32[8,2], s32[]; f32[16,2], s32[]".to_owned()),
            ("jit_once", 1, 0.25, 0, String::new()),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn damage_of_the_results_is_said() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = r#"{"schema": "ridgeline.bench.v1", "summary": [3]}"#;
        std::fs::write(folder.path().join("results.json"), text).expect("written");
        let said: Vec<String> = recompiled(folder.path()).0.into_iter().map(|note| note.message).collect();
        assert!(matches!(&said[..], [only] if only.contains("summary")), "{said:?}");
    }

    #[test]
    fn a_path_that_leads_out_of_the_folder_is_not_opened() {
        for path in ["../x", "/etc/passwd", "a/../../x"] {
            assert_eq!(inside(Path::new("run"), path), None, "{path}");
        }
        assert_eq!(inside(Path::new("run"), "size_064/trace/a.pb"), Some(PathBuf::from("run/size_064/trace/a.pb")));
    }
}
