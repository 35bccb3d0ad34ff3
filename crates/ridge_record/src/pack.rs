//! Pack the traces that PyTorch wrote, and take out of them what is private.
//!
//! PyTorch writes plain JSON that names the machine; the recorder packs it after the program has ended, so that the program does
//! not wait for it.
//! A trace that cannot be packed stays as it is, which opens just as well, and the manifest says so.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use ridge_redact::{Words, redact_json};
use serde_json::{Value, json};

use crate::outcome::RecordEvent;
use crate::pieces::Pieces;
use crate::redact::Redaction;

/// How the names of PyTorch's plain traces end.
const PLAIN: &str = ".pt.trace.json";

/// Packs each PyTorch trace that `pieces` speak of in `out`, and has them name what it became.
pub(crate) fn pack_torch_traces(
    out: &Path,
    pieces: &mut Pieces,
    redaction: &Redaction,
    tell: &mut dyn FnMut(RecordEvent),
) {
    for piece in &mut pieces.pieces {
        let (mut notes, mut took) = (Vec::new(), Duration::ZERO);
        for trace in piece.content["traces"].as_array_mut().into_iter().flatten() {
            let Some(path) = trace["path"].as_str().filter(|path| path.contains(PLAIN)).map(str::to_owned) else {
                continue;
            };
            let bytes = out.join(&path).metadata().map_or(0, |metadata| metadata.len());
            tell(RecordEvent::Packing { bytes });
            let began = Instant::now();
            match pack(&out.join(&path), redaction.words()) {
                Ok(bytes) => {
                    trace["path"] = json!(format!("{}.gz", path.trim_end_matches(".gz")));
                    trace["bytes"] = json!(bytes);
                }
                Err(error) => {
                    notes.push(json!({"what": path, "why": format!("not packed, and still private: {error}")}))
                }
            }
            took += began.elapsed();
        }
        if !took.is_zero() {
            // The user waits for it as for the harness's own work.
            for key in ["packing_s", "harness_s"] {
                let before = piece.content["timings"][key].as_f64().unwrap_or(0.0);
                piece.content["timings"][key] = json!(before + took.as_secs_f64());
            }
        }
        if let Some(all) = piece.content["notes"].as_array_mut().filter(|_| !notes.is_empty()) {
            all.append(&mut notes);
        } else if !notes.is_empty() {
            piece.content["notes"] = Value::Array(notes);
        }
    }
}

/// Packs `path`, plain or packed, and removes the plain file; the size of the packed one in bytes.
fn pack(path: &Path, words: Option<&Words>) -> io::Result<u64> {
    let packed = path.with_file_name(format!("{}.gz", name(path).trim_end_matches(".gz")));
    ridge_files::replace(&packed, |file| write(path, words, file))?;
    if packed != path {
        fs::remove_file(path)?;
    }
    Ok(fs::metadata(&packed)?.len())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn write(path: &Path, words: Option<&Words>, packed: &mut File) -> io::Result<()> {
    let mut encoder = GzEncoder::new(io::BufWriter::new(packed), Compression::fast());
    match words {
        None => io::copy(&mut plain(path)?, &mut encoder).map(drop)?,
        Some(words) => redact_json(|| plain(path), words, &mut encoder).map(drop).map_err(io::Error::other)?,
    }
    encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
}

/// The plain content of a file that may be packed.
fn plain(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let is_packed = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_packed {
        Box::new(BufReader::with_capacity(1 << 20, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Piece;
    use std::io::Read as _;

    #[test]
    fn a_trace_is_packed_and_its_piece_says_so() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let plain = dir.path().join("trace/host0.pt.trace.json");
        fs::create_dir(dir.path().join("trace")).expect("a folder");
        fs::write(&plain, r#"{"host_name": "vm7", "traceEvents": [{"name": "f on vm7"}]}"#).expect("a file");
        let content = json!({"traces": [{"path": "trace/host0.pt.trace.json", "bytes": 1}], "notes": []});
        let mut pieces = Pieces { pieces: vec![Piece { content, modules: Vec::new() }], ..Pieces::default() };
        pack_torch_traces(dir.path(), &mut pieces, &Redaction::of_this_machine(), &mut |_| {});
        let packed = dir.path().join("trace/host0.pt.trace.json.gz");
        let mut text = String::new();
        let read = flate2::read::GzDecoder::new(File::open(&packed).expect("packed")).read_to_string(&mut text);
        assert!(read.is_ok() && !plain.exists());
        assert_eq!(text, r#"{"host_name": "<host>", "traceEvents": [{"name": "f on <host>"}]}"#);
        assert_eq!(pieces.pieces[0].content["traces"][0]["path"], "trace/host0.pt.trace.json.gz");
        assert_eq!(pieces.pieces[0].content["traces"][0]["bytes"], packed.metadata().expect("there").len());
    }

    #[test]
    fn a_trace_that_is_damaged_stays() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("x.pt.trace.json"), r#"{"traceEvents": [{"name": "#).expect("a file");
        let content = json!({"traces": [{"path": "x.pt.trace.json"}]});
        let mut pieces = Pieces { pieces: vec![Piece { content, modules: Vec::new() }], ..Pieces::default() };
        pack_torch_traces(dir.path(), &mut pieces, &Redaction::of_this_machine(), &mut |_| {});
        assert_eq!(pieces.pieces[0].content["notes"][0]["what"], "x.pt.trace.json");
        assert_eq!(fs::read_dir(dir.path()).expect("the folder").count(), 1);
    }
}
