//! The manifest of a job of several processes: the recordings of its ranks as one, and which of them are missing.
//!
//! Each rank writes it anew when it begins and when it has ended, from what is there then; the last one sees all.

use crate::folder_content::{Content, content, has_trace, remove_recording};
use crate::rank::Rank;
use ridge_documents::{rank_folder, rank_of_folder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Writes the manifest of the job in `folder`, as rank `own`, which began at `began`, sees it.
///
/// # Errors
/// What the system says where it cannot be written.
pub(crate) fn join(folder: &Path, own: Rank, began: SystemTime) -> io::Result<()> {
    let lock = File::open(folder)?;
    // On a file system without locks the last one still writes what all have left.
    let _ = lock.lock();
    // An earlier recording that was no job's, and ranks of a larger job, give way to this one.
    if has_trace(&own.folder(folder)) {
        remove_recording(folder)?;
    }
    let mut ranks = BTreeMap::new();
    for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
        let Some(rank) = entry.file_name().to_str().and_then(rank_of_folder) else { continue };
        let is_earlier = own.count.is_some_and(|count| rank >= count);
        if is_earlier && matches!(content(&entry.path()), Ok(Content::Recording)) {
            ridge_files::remove(&entry.path())?;
        } else if let Some(manifest) = read(&entry.path().join("manifest.json")) {
            ranks.insert(rank, manifest);
        }
    }
    let Some(mut joined) = ranks.get(&own.index).map(|(manifest, _)| manifest.clone()) else { return Ok(()) };
    let count = own.count.unwrap_or(0).max(ranks.keys().last().map_or(0, |last| last + 1));
    joined["traces"] = all(&ranks, "traces", "path");
    joined["modules"] = all(&ranks, "modules", "dir");
    let missing: Vec<Value> = (0..count).flat_map(|rank| missing(rank, ranks.get(&rank), began)).collect();
    joined["finished"] = json!(ranks.values().all(|(manifest, _)| manifest["finished"] == true));
    joined["complete"] = json!(missing.is_empty());
    joined["missing"] = Value::Array(missing);
    ridge_files::write(&folder.join("manifest.json"), format!("{joined:#}\n").as_bytes())
}

type Found = (Value, SystemTime);

fn read(path: &Path) -> Option<Found> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    Some((manifest, fs::metadata(path).and_then(|found| found.modified()).ok()?)).filter(|(value, _)| value.is_object())
}

/// The lists of all ranks as one, whose paths begin with the folder of the rank.
fn all(ranks: &BTreeMap<u32, Found>, list: &str, path: &str) -> Value {
    let of_rank = |(rank, (manifest, _)): (&u32, &Found)| -> Vec<Value> {
        let mut items = manifest[list].as_array().cloned().unwrap_or_default();
        for item in &mut items {
            if let Some(inside) = item[path].as_str() {
                item[path] = json!(format!("{}/{inside}", rank_folder(*rank)));
            }
        }
        items
    };
    Value::Array(ranks.iter().flat_map(of_rank).collect())
}

/// What a rank did not leave.
fn missing(rank: u32, found: Option<&Found>, began: SystemTime) -> Vec<Value> {
    let lost = |what: &str, why: &str| json!({"what": format!("rank {rank}{what}"), "why": why});
    let Some((manifest, written)) = found else { return vec![lost("", "it left no recording")] };
    if *written < began {
        return vec![lost("", "its recording ended before another rank's began: it may be from an earlier job")];
    }
    let parts = manifest["missing"].as_array().into_iter().flatten();
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    parts.map(|part| lost(&format!(": {}", words(&part["what"])), &words(&part["why"]))).collect()
}
