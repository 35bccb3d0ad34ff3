//! A timeline that nobody measured: what a compiled module's launches would take on the GPU that it was compiled for.
//!
//! It is written as a capture beside the modules, and marked as predicted wherever it is shown.

mod files;
mod judged;
mod kernels;
mod loop_trips;
mod timeline;

use self::judged::{Static, for_rules, judged_all};
use crate::answer::Question;
use crate::error::{Details, OpenError};
use crate::hlo::number_of;
use crate::manifest::Manifest;
use crate::session::Session;
use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::Schema;
use ridge_analysis::{Ceilings, DeviceSheet, Topic, sheets, view};
use ridge_compile::Target;
use ridge_diagnose::Seen;
use ridge_table::{Basis, Columns, Subject, Table};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use kernels::{PredictedKernel, PredictedModule, Roofs, Trips};
pub use loop_trips::{LoopTrips, ModuleTrips};
pub use timeline::ModuleRuns;

/// Where the timeline is in its run folder.
const FILE: &str = "trace/predicted.trace.json";

/// What was predicted of a run folder.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The GPU.
    pub target: &'static Target,
    /// The data sheet that its roofs are from; without one there are no times.
    pub sheet: Option<&'static DeviceSheet>,
    /// Each module, in the order in which they were compiled.
    pub modules: Vec<PredictedModule>,
    /// What a reader must know, a sentence without a period each.
    pub notes: Vec<String>,
    /// The timeline; `None` where there are no times.
    pub file: Option<PathBuf>,
}

/// Predicts the launches of the modules that `ridgeline compile` left in `folder`, and writes their timeline into it.
///
/// # Errors
/// [`OpenError`] where the folder is not one of a compilation, or the timeline cannot be written.
pub fn predict(folder: &Path) -> Result<Prediction, OpenError> {
    predict_recorded(folder, &Recorded::default())
}

/// What a recording of the same modules on another device shows, by the names of their folders in the compilation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// How often each module ran; without it, each runs once.
    pub runs: Option<ModuleRuns>,
    /// How often their loops went round.
    pub trips: LoopTrips,
}

/// The same, modules and loops as often as `recorded`; for loops, where nothing surer tells.
///
/// # Errors
/// As [`predict`].
pub fn predict_recorded(folder: &Path, recorded: &Recorded) -> Result<Prediction, OpenError> {
    let mut prediction = predicted_of(folder, &recorded.trips)?;
    if prediction.sheet.is_some() {
        let (text, said) = timeline::written(prediction.target, &prediction.modules, recorded.runs.as_ref());
        prediction.notes.extend(said);
        let path = folder.join(FILE);
        files::write(&path, &text)?;
        prediction.file = Some(path);
    }
    Ok(prediction)
}

/// What the launches of a compilation would take; nothing is written.
fn predicted_of(folder: &Path, trips: &LoopTrips) -> Result<Prediction, OpenError> {
    let none = |why: &str| OpenError::NotACapture(Details::new(why).at(folder));
    let (manifest, _) = Manifest::of(folder);
    let manifest = manifest.filter(|manifest| manifest.document.kind == "compile");
    let manifest = manifest.ok_or_else(|| none("expected a recording of `ridgeline compile`"))?;
    let id = manifest.document.options.get("target").and_then(|target| target["id"].as_str());
    let target = id.and_then(Target::named).ok_or_else(|| none("the manifest names no GPU that is known"))?;
    let sheet = sheet_of(target);
    let ceilings = sheet.map(|sheet| &sheet.ceilings);
    let none_known = Ceilings::default();
    let mut notes = Vec::new();
    if sheet.is_none() {
        notes.push(format!("no data sheet of {} is known, so no times are predicted", target.name));
    }
    let folders = manifest.document.modules.iter().filter_map(|module| manifest.folder_of(module));
    let modules: Vec<PredictedModule> = folders
        .filter_map(|folder| match files::read(&folder) {
            Ok(files) => {
                let ceilings = ceilings.unwrap_or(&none_known);
                let module = kernels::predicted(&files, target, ceilings, trips.get(&files.folder));
                if !module.has_thunks && module.fusions > 0 {
                    notes.push(format!(
                        "{}: XLA's list of thunks is not there, so nothing is known of its launches",
                        module.folder
                    ));
                }
                Some(module)
            }
            Err(why) => {
                notes.push(format!("{}: {why}", folder.display()));
                None
            }
        })
        .collect();
    Ok(Prediction { target, sheet, modules, notes, file: None })
}

impl Prediction {
    /// What is seen of its kernels before anything ran, as a table, the longest kernels first.
    pub fn seen(&self) -> Table {
        let none = Ceilings::default();
        let ceilings = self.sheet.map_or(&none, |sheet| &sheet.ceilings);
        let rows = judged_all(&self.modules, self.target, ceilings);
        let share = |row: &(&PredictedModule, &PredictedKernel, Static)| {
            let secs = |kernel: &PredictedKernel| kernel.time.map_or(0.0, |time| time.mid_s) * kernel.runs;
            let all: f64 = self.modules.iter().flat_map(|module| &module.kernels).map(secs).sum();
            (all > 0.0).then(|| secs(row.1) / all)
        };
        let mut table = Columns::over(&rows)
            .text("rule", "Rule", "the rule of `check` that this stands for", |row| format!("{} (static)", row.2.rule))
            .key()
            .text("instruction", "Instruction", "the instruction of the optimized HLO", |row| row.1.instruction.clone())
            .key()
            .text("module", "Module", "its module, and the number of its directory", |row| row.0.folder.clone())
            .share("share", "Of the time", "of the predicted time, each module once", Basis::Modelled, share)
            .key()
            .text("seen", "Seen", "what code, launch and HLO show: the kernel …", |row| row.2.what.clone())
            .key()
            .text("help", "May help", "what may help", |row| row.2.help.to_owned())
            .table("static", format!("What {} would wait for, by its code (static)", self.target.name));
        let short = "kernels with the predicted minimum time of any kernel are not analyzed";
        table.footnotes.push(short.to_owned());
        table
    }
}

impl Session {
    /// What is seen of the kernels of a compilation before anything ran, for the rules of `check`; nothing of any other capture.
    pub(crate) fn seen_statically(&self) -> Vec<Seen> {
        let folder = self.is_predicted().then(|| self.run_folder()).flatten();
        // The timeline has the trips that it was made with.
        let by_folder =
            |(dir, trips): (String, ModuleTrips)| Some((Path::new(&dir).file_name()?.to_str()?.to_owned(), trips));
        let trips = || self.loop_trips().into_iter().filter_map(by_folder).collect();
        let Some(found) = folder.and_then(|folder| predicted_of(folder, &trips()).ok()) else { return Vec::new() };
        let none = Ceilings::default();
        for_rules(&found.modules, found.target, found.sheet.map_or(&none, |sheet| &sheet.ceilings))
    }
}

/// The data sheet of a GPU that XLA knows, by the name that drivers give it.
fn sheet_of(target: &Target) -> Option<&'static DeviceSheet> {
    sheets().iter().find(|sheet| sheet.name == target.name || sheet.driver_names.contains(&target.name))
}

impl Session {
    /// How often each module ran, by its folder in the recording as the manifest has it; those of which nothing is known are left out.
    pub fn module_runs(&self) -> ModuleRuns {
        let by_number = self.runs_by_number();
        let mut found = ModuleRuns::default();
        let Some(manifest) = self.manifest() else { return found };
        for module in &manifest.document.modules {
            let Some(folder) = manifest.folder_of(module) else { continue };
            // A recording numbers folders by itself; XLA's own number, which the capture has, is in the proto.
            let Some(number) = module.program_id.or_else(|| number_of(&folder)) else { continue };
            let Some(runs) = by_number.get(&(module.name.clone(), number)) else { continue };
            found.insert(module.dir.clone().unwrap_or_default(), *runs);
        }
        found
    }

    /// How often each module ran, by its name and XLA's number of it.
    fn runs_by_number(&self) -> FxHashMap<(String, u64), u64> {
        let mut found = FxHashMap::default();
        let Some(by_module) = view(Topic::Time, "module") else { return found };
        let Ok(answer) = self.answer(Topic::Time, &[by_module], Question::default()) else { return found };
        let trace = &self.imported().trace;
        for table in &answer.tables {
            let runs =
                table.batch.column_by_name("runs").and_then(|column| column.as_any().downcast_ref::<UInt64Array>());
            for (subject, runs) in table.subjects.iter().zip(runs.into_iter().flatten()) {
                let (Some(Subject::Module(row)), Some(runs)) = (subject, runs) else { continue };
                let Some(module) = trace.modules.get(row.index()) else { continue };
                let known = (trace.strings.get(module.name).to_owned(), module.program_id);
                let all: &mut u64 = found.entry(known).or_default();
                *all = all.saturating_add(runs);
            }
        }
        found
    }

    /// Whether every device that did anything is a CPU, so that another device may be meant.
    pub fn is_of_processor(&self) -> bool {
        let devices = &self.imported().trace.devices;
        !self.is_predicted() && !devices.is_empty() && devices.iter().all(ridge_trace::Device::is_processor)
    }

    /// Whether the times of this capture were predicted, and nothing of it was measured.
    pub fn is_predicted(&self) -> bool {
        self.imported().predicted > 0
    }

    /// `table` as it may be shown: of a capture whose times were predicted, it says so in its title, and what it calls measured
    /// was modelled.
    pub(crate) fn marked(&self, table: Table) -> Table {
        if self.is_predicted() { marked(table) } else { table }
    }
}

fn marked(mut table: Table) -> Table {
    table.title = format!("{} (predicted)", table.title);
    let schema = table.batch.schema();
    let fields = schema.fields().iter().map(|field| {
        let mut about = field.metadata().clone();
        if about.get("basis").is_some_and(|basis| basis == Basis::Measured.name()) {
            about.insert("basis".to_owned(), Basis::Modelled.name().to_owned());
        }
        field.as_ref().clone().with_metadata(about)
    });
    let schema = Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()));
    // The same columns under the same types, so it cannot fail; where it did, the title says it.
    if let Ok(batch) = RecordBatch::try_new(schema, table.batch.columns().to_vec()) {
        table.batch = batch;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicted_table_says_so_and_measures_nothing() {
        let rows = [("dot", 30_i64)];
        let table = Columns::over(&rows)
            .text("op", "Operation", "its name", |row| row.0.to_owned())
            .nanos("self_ns", "Self", "its time", Basis::Measured, |row| row.1)
            .table("op", "Operations");
        let table = marked(table);
        assert_eq!(table.title, "Operations (predicted)");
        assert_eq!(table.batch.schema().field(1).metadata()["basis"], "modelled");
    }

    #[test]
    fn gpus_have_their_sheets() {
        let of = |name: &str| sheet_of(Target::named(name).expect("a target")).map(|sheet| sheet.name.as_str());
        assert_eq!(of("h100"), Some("NVIDIA H100 SXM5 80GB"));
        assert_eq!(of("a100"), Some("NVIDIA A100 SXM4 80GB"));
        assert_eq!(of("b300"), None);
    }
}
