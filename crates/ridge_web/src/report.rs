//! A report: the page with answers beside it in one file, which opens from disk without a network.
//!
//! It holds the same answers as the server gives, by the same addresses, packed. What is asked for most comes first; tiles
//! are added from the whole capture down, level by level, as far as the size allows. What is left out is said in it.

mod packed;
mod plan;

pub use plan::Part;

use crate::answer::Refusal;
use crate::server::inline_policy;
use crate::{INDEX, Page};
use packed::Packed;
use plan::{Step, Tiles, steps};
use serde_json::Value;

/// What a report shall hold.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// What is shown.
    pub parts: Vec<Part>,
    /// The file's size is kept below this, bytes.
    pub most_bytes: u64,
}

/// A finished report.
#[derive(Debug, Clone)]
pub struct Report {
    /// The file.
    pub html: String,
    /// What it does not hold, a sentence each.
    pub left_out: Vec<String>,
}

/// What base64 makes of three bytes, and the page that is there anyway.
fn room(most_bytes: u64) -> u64 {
    most_bytes.saturating_sub(INDEX.len() as u64 + 4096) / 4 * 3
}

/// The report of `page`.
///
/// # Errors
/// [`Refusal`] where even what every report holds does not fit, or the capture answers nothing.
pub fn report(page: &Page, options: &ReportOptions) -> Result<Report, Refusal> {
    let room = room(options.most_bytes);
    let mut packed = Packed::new(room);
    let mut capture = page.document("capture")?;
    capture["has"]["report"] = Value::Bool(true);
    let has_room = packed.add("capture", "application/json", capture.to_string().as_bytes());
    if !has_room {
        return Err(Refusal::bad(format!("expected room for a report, found {} bytes", options.most_bytes)));
    }
    let mut left_out: Vec<String> = Vec::new();
    for step in steps(page, &options.parts) {
        match step {
            Step::Answers(said, addresses) => {
                let all = addresses.len();
                let missing =
                    addresses.into_iter().filter(|(key, address)| !put(page, &mut packed, key, address)).count();
                if missing > 0 {
                    left_out.push(format!("{said}: {missing} of {all} did not fit"));
                }
            }
            Step::Tiles => left_out.extend(put_tiles(page, &mut packed)),
            Step::Said(said) => left_out.push(said),
        }
    }
    let html = embedded(&packed.finish(&left_out));
    Ok(Report { html, left_out })
}

/// Adds the answer to `address`; one that the capture does not have is nothing that is missing.
fn put(page: &Page, packed: &mut Packed, key: &str, address: &str) -> bool {
    match page.answer(address) {
        Ok(answer) => packed.add(key, answer.kind.media_type(), &answer.body),
        Err(_) => true,
    }
}

/// Adds tiles level by level, until those of a level do not fit or all events are there.
fn put_tiles(page: &Page, packed: &mut Packed) -> Option<String> {
    let mut tiles = Tiles::new(page);
    while let Some(level) = tiles.next_level() {
        let level_tiles = tiles.of_level(page);
        let all_fit = level_tiles.iter().all(|(key, body)| packed.add(key, "application/octet-stream", body));
        if !all_fit {
            return Some(format!(
                "the timeline closer than {} a column: it did not fit; a larger --max-size has more of it",
                ridgeline::units::Nanos(1_i64 << (level + 1).min(62))
            ));
        }
    }
    None
}

/// The page with `data` in it, and a policy that lets it run its own scripts and reach nothing.
fn embedded(data: &str) -> String {
    let policy = format!(r#"<meta http-equiv="Content-Security-Policy" content="{}">"#, inline_policy(INDEX));
    let data = format!("<script type=\"application/octet-stream\" id=\"ridgeline-data\">{data}</script>");
    let head =
        ["<head>", "<meta charset=\"utf-8\">"].into_iter().find_map(|tag| INDEX.find(tag).map(|at| at + tag.len()));
    let head = head.unwrap_or(0);
    let end = INDEX.rfind("</body>").or_else(|| INDEX.rfind("</html>")).unwrap_or(INDEX.len()).max(head);
    [&INDEX[..head], &policy, &INDEX[head..end], &data, &INDEX[end..]].concat()
}
