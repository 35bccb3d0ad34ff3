//! Where a report opens: an address of the page, with what the page asks there that a report would leave out.

use super::keys::key;
use crate::Page;
use crate::request::Request;

/// Rows of sums that the page asks of a selection.
const ROWS: &str = "200";

/// The part of an address behind `#/`, as the browser shows it or as it stands in the address of the page.
pub(super) fn place_in(address: &str) -> &str {
    address.split_once('#').map_or(address, |(_, place)| place).trim_start_matches('/')
}

/// What the page asks there: the chosen event, and the sums of the selection.
pub(super) fn asked(page: &Page, place: &str) -> Vec<String> {
    let request = Request::parse(place);
    let event = request.number::<u32>("event").ok().flatten();
    let event = event.map(|row| format!("event/{row}"));
    event.into_iter().chain(sums(page, &request)).collect()
}

/// The address of a selection's sums, to the letter as the page writes it.
fn sums(page: &Page, request: &Request) -> Option<String> {
    let [from, to] = ["a", "b"].map(|name| request.number::<i64>(name).ok().flatten());
    let (from, to) = (from?.to_string(), to?.to_string());
    let tracks = request.get("tracks").map_or_else(|| all_tracks(page), str::to_owned);
    let mut query = vec![("from", from.as_str()), ("lines", "1"), ("rows", ROWS)];
    query.extend(request.get("step").map(|step| ("step", step)));
    query.extend([("to", to.as_str()), ("tracks", &tracks)]);
    query.extend(request.get("where").map(|terms| ("where", terms)));
    Some(key("selection", &query))
}

/// The numbers of all tracks with events, as ranges.
fn all_tracks(page: &Page) -> String {
    let tracks = page.session().trace().tracks.iter().enumerate().filter(|(_, track)| !track.rows.is_empty());
    let numbers: Vec<usize> = tracks.map(|(at, _)| at).collect();
    let ranges = numbers.chunk_by(|one, other| one + 1 == *other).map(|chunk| match chunk {
        [one] => one.to_string(),
        _ => format!("{}-{}", chunk[0], chunk[chunk.len() - 1]),
    });
    ranges.collect::<Vec<_>>().join(",")
}
