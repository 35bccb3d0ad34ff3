//! A report: the page with answers beside it in one file, which opens from disk without a network.
//!
//! It holds the same answers as the server gives, by the same addresses, packed. What is asked for most comes first; tiles
//! are added from the whole capture down, level by level, as far as the size allows. What is left out is said in it.

mod keys;
mod opening;
mod packed;
mod part;
mod plan;
mod programs;
mod tiles;

pub use part::Part;

use crate::answer::Refusal;
use crate::server::inline_policy;
use crate::{INDEX, Page};
use packed::Packed;
use plan::{Step, steps};
use serde_json::Value;
use tiles::Tiles;

/// What a report shall hold.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// What is shown.
    pub parts: Vec<Part>,
    /// The file's size is kept below this, bytes.
    pub most_bytes: u64,
    /// Where it opens: an address of the page, with its selection, markers and notes; the overview without one.
    pub opens_at: Option<String>,
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
    let mut packed = Packed::new();
    let mut capture = page.document("capture")?;
    capture["has"]["report"] = Value::Bool(true);
    let has_room = packed.add("capture", "application/json", capture.to_string().as_bytes(), room);
    if !has_room {
        return Err(Refusal::bad(format!("expected room for a report, found {} bytes", options.most_bytes)));
    }
    let mut left_out: Vec<String> = Vec::new();
    let mut waiting = Vec::new();
    let opens_at = options.opens_at.as_deref().map(opening::place_in);
    if let Some(place) = opens_at {
        let put = put_all(page, &mut packed, keys::same(opening::asked(page, place)), room);
        left_out.extend(put.said("what the report opens at"));
    }
    for step in steps(page, &options.parts) {
        match step {
            Step::Answers(what, addresses) => left_out.extend(put_all(page, &mut packed, addresses, room).said(what)),
            Step::Within(parts, what, addresses) => {
                let most = packed.bytes() + room / 100 * parts;
                waiting.push((what, put_all(page, &mut packed, addresses, most.min(room))));
            }
            Step::Tiles => left_out.extend(put_tiles(page, &mut packed, room)),
            Step::Said(said) => left_out.push(said),
        }
    }
    // What was held back for the timeline may be free now.
    for (what, Put { all, missing }) in waiting {
        let still = put_all(page, &mut packed, missing, room).missing;
        left_out.extend(Put { all, missing: still }.said(what));
    }
    let html = embedded(&packed.finish(&left_out, opens_at));
    Ok(Report { html, left_out })
}

/// How many answers of a kind there are, and those that did not fit.
struct Put {
    all: usize,
    missing: Vec<(String, String)>,
}

impl Put {
    /// What is to be said, where something is missing.
    fn said(&self, what: &str) -> Option<String> {
        let (all, missing) = (self.all, self.missing.len());
        (missing > 0).then(|| format!("{what}: {missing} of {all} did not fit; a larger --max-size has more of them"))
    }
}

/// Adds answers as far as they fit into `most` packed bytes.
fn put_all(page: &Page, packed: &mut Packed, addresses: Vec<(String, String)>, most: u64) -> Put {
    let mut put = Put { all: 0, missing: Vec::new() };
    for (key, address) in addresses {
        // What the capture does not have is nothing that is missing.
        let Ok(answer) = page.answer(&address) else { continue };
        put.all += 1;
        if !packed.add(&key, answer.kind.media_type(), &answer.body, most) {
            put.missing.push((key, address));
        }
    }
    put
}

/// What the tiles of a report may unpack to, bytes: whoever opens it holds as much in memory.
fn most_unpacked(page: &Page) -> u64 {
    const LEAST: u64 = 64 << 20;
    const PER_EVENT: u64 = 256;
    LEAST.max(page.session().trace().events.len() as u64 * PER_EVENT)
}

/// Adds tiles level by level, until those of a level do not fit or all events are there.
///
/// Where thousands of events overlap, each closer look repeats all of them: tiles that are alike pack to next to nothing.
fn put_tiles(page: &Page, packed: &mut Packed, room: u64) -> Option<String> {
    let (mut tiles, mut unpacked, most) = (Tiles::new(page), 0, most_unpacked(page));
    while let Some(level) = tiles.next_level() {
        let all_fit = tiles.put_level(page, &mut |key, body| {
            unpacked += body.len() as u64;
            unpacked <= most && packed.add(key, "application/octet-stream", body, room)
        });
        if !all_fit {
            let closer = ridgeline::units::Nanos(1_i64 << (level + 1).min(62));
            let why = match unpacked > most {
                true => format!("so many events overlap that it would be over {} MiB unpacked", most >> 20),
                false => "it did not fit; a larger --max-size has more of it".to_owned(),
            };
            return Some(format!("the timeline closer than {closer} a column: {why}"));
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
