//! A timeline that nobody measured: what a compiled module's launches would take on the GPU that it was compiled for.
//!
//! It is written as a capture beside the modules, and marked as predicted wherever it is shown.

mod files;
mod kernels;
mod timeline;

use crate::error::{Details, OpenError};
use crate::manifest::Manifest;
use crate::session::Session;
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use ridge_analysis::{Ceilings, DeviceSheet, sheets};
use ridge_compile::Target;
use ridge_table::{Basis, Table};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use kernels::{PredictedKernel, PredictedModule};

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
    let none = |why: &str| OpenError::NotACapture(Details::new(why).at(folder));
    let (manifest, _) = Manifest::of(folder);
    let manifest = manifest.filter(|manifest| manifest.document.kind == "compile");
    let manifest = manifest.ok_or_else(|| none("expected a run folder of `ridgeline compile`"))?;
    let id = manifest.document.options.get("target").and_then(|target| target["id"].as_str());
    let target = id.and_then(Target::named).ok_or_else(|| none("the manifest names no GPU that is known"))?;
    let sheet = sheet_of(target);
    let ceilings = sheet.map(|sheet| &sheet.ceilings);
    let mut notes = Vec::new();
    if sheet.is_none() {
        notes.push(format!("no data sheet of {} is known, so no times are predicted", target.name));
    }
    let folders = manifest.document.modules.iter().filter_map(|module| manifest.folder_of(module));
    let modules: Vec<PredictedModule> = folders
        .filter_map(|folder| match files::read(&folder) {
            Ok(files) => Some(kernels::predicted(&files, target, ceilings.unwrap_or(&Ceilings::default()))),
            Err(why) => {
                notes.push(format!("{}: {why}", folder.display()));
                None
            }
        })
        .collect();
    let file = match sheet {
        None => None,
        Some(_) => {
            let (text, said) = timeline::written(target, &modules);
            notes.extend(said);
            let path = folder.join(FILE);
            files::write(&path, &text)?;
            Some(path)
        }
    };
    Ok(Prediction { target, sheet, modules, notes, file })
}

/// The data sheet of a GPU that XLA knows, by the name that drivers give it.
fn sheet_of(target: &Target) -> Option<&'static DeviceSheet> {
    sheets().iter().find(|sheet| sheet.name == target.name || sheet.driver_names.contains(&target.name))
}

impl Session {
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
    use ridge_table::Columns;

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
