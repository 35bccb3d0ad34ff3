//! Broken and hostile traces in Chrome's JSON format: an error or a partial answer, never a panic, and never memory out
//! of proportion to the file.
//!
//! What intact traces say is for `chrome.rs` and `kineto.rs`.

mod support;

use flate2::Compression;
use flate2::write::GzEncoder;
use ridge_import::{ImportError, ImportOptions, Imported, Input, Release, Source, import, import_inputs};
use ridge_trace::NONE;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use support::counting::{Counting, alone, measured};
use support::random::Random;

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory that reading may take: this many times the text, and a constant.
///
/// The smallest event with a time, `{"ph":"X","ts":1},`, is 18 bytes; it takes 40 while it is gathered, twice where the list
/// grows, and 38 in the trace.
const TIMES: usize = 24;
/// Buffers of the unpacker and of the stretches that are read in parallel.
const CONSTANT: usize = 24 << 20;
/// A thread of its own for each event costs a row of every table by track.
const TIMES_FOR_TRACKS: usize = 64;

#[track_caller]
fn survive_within(what: &str, bytes: &[u8], text_bytes: usize, times: usize) -> Result<Imported, ImportError> {
    let (result, peak) = measured(|| import(&[Source { name: "trace.json", bytes }], Some("chrome")));
    let bound = times * text_bytes + CONSTANT;
    assert!(peak <= bound, "{what}: {peak} bytes to read {text_bytes} of text; at most {bound}");
    if let Ok(imported) = &result {
        let events = &imported.trace.events;
        let within = |ids: &[u32], rows: usize| ids.iter().all(|id| *id == NONE || (*id as usize) < rows);
        assert!(within(&events.op, imported.trace.operations.len()) && within(&events.link, events.len()), "{what}");
        assert!(events.dur_ns.iter().all(|dur| *dur >= 0), "{what}: a negative duration");
    }
    result
}

#[track_caller]
fn survive(what: &str, text: &[u8]) -> Result<Imported, ImportError> {
    survive_within(what, text, text.len(), TIMES)
}

/// Small real traces as text, and the beginnings of large ones.
fn traces() -> Vec<(String, Vec<u8>)> {
    let mut paths = ridge_test::files(&ridge_test::fixtures("chrome"), ".json");
    let is_one_of_many = |path: &PathBuf| path.to_string_lossy().contains("/rank");
    paths.extend(ridge_test::real_files("kineto", ".json.gz").into_iter().filter(|path| !is_one_of_many(path)));
    let text = |path: &PathBuf| {
        let bytes = std::fs::read(path).expect("a listed file");
        let mut text = Vec::new();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            flate2::read::MultiGzDecoder::new(&bytes[..]).take(1 << 20).read_to_end(&mut text).expect("a packed trace");
        } else {
            text = bytes;
        }
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text)
    };
    paths.iter().map(text).collect()
}

#[test]
fn real_traces_cut_flipped_and_spliced() {
    let _alone = alone();
    for (name, text) in traces() {
        let mut random = Random(11);
        for _ in 0..20 {
            let at = random.below(text.len());
            let _ = survive(&format!("{name} cut at {at}"), &text[..at]);
            let mut broken = text[..text.len().min(at + (64 << 10))].to_vec();
            broken[at] ^= 1 << random.below(8);
            let _ = survive(&format!("{name} with a bit of byte {at} flipped"), &broken);
            let from = random.below(text.len());
            let end = text.len().min(from + (64 << 10));
            let spliced = [&text[..at.min(64 << 10)], &text[from..end]].concat();
            let _ = survive(&format!("{name} to {at}, then from {from}"), &spliced);
        }
    }
}

/// `count` events made by `event`, in a list.
fn list(count: usize, event: impl Fn(usize) -> String) -> Vec<u8> {
    let events: Vec<String> = (0..count).map(event).collect();
    format!("{{\"traceEvents\":[{}]}}", events.join(",")).into_bytes()
}

#[test]
fn memory_is_in_proportion_to_the_text() {
    let _alone = alone();
    const COUNT: usize = 50_000;
    type Made = fn(usize) -> String;
    let kinds: [(&str, Made, usize); 13] = [
        ("empty events", |_| "{}".to_owned(), TIMES),
        ("the smallest ranges", |_| r#"{"ph":"X","ts":1}"#.to_owned(), TIMES),
        ("the smallest instants", |_| r#"{"ph":"i","ts":1,"pid":1}"#.to_owned(), TIMES),
        ("halves of ranges", |_| r#"{"ph":"B","ts":1}"#.to_owned(), TIMES),
        ("asynchronous halves", |at| format!(r#"{{"ph":"b","ts":1,"id":{at}}}"#), TIMES),
        ("names of their own", |at| format!(r#"{{"ph":"X","ts":1,"name":"{at}"}}"#), TIMES),
        ("threads of their own", |at| format!(r#"{{"ph":"X","ts":1,"tid":{at}}}"#), TIMES_FOR_TRACKS),
        ("streams of their own", |at| format!(r#"{{"ph":"X","cat":"kernel","ts":1,"tid":{at}}}"#), TIMES_FOR_TRACKS),
        ("devices of their own", |at| format!(r#"{{"ph":"X","cat":"kernel","ts":1,"pid":{at}}}"#), TIMES_FOR_TRACKS),
        (
            "threads that are named",
            |at| format!(r#"{{"ph":"M","name":"thread_name","tid":{at},"args":{{"name":{at}}}}}"#),
            TIMES,
        ),
        ("samples", |at| format!(r#"{{"ph":"C","ts":1,"args":{{"{at}":1,"a":2,"b":3}}}}"#), TIMES),
        ("shapes of their own", |at| format!(r#"{{"ph":"X","cat":"kernel","ts":1,"args":{{"grid":[{at}]}}}}"#), TIMES),
        ("arrows", |at| format!(r#"{{"ph":"s","cat":"ac2g","ts":1,"id":{at}}}"#), TIMES),
    ];
    for (what, made, times) in kinds {
        let text = list(COUNT, made);
        survive_within(what, &text, text.len(), times).unwrap_or_else(|error| panic!("{what}: {error}"));
        // The text of a packed trace is never in memory as a whole, but what it becomes is the same.
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&text).expect("memory takes all");
        let packed = packed.finish().expect("memory takes all");
        survive_within(what, &packed, text.len(), times).unwrap_or_else(|error| panic!("{what}, packed: {error}"));
    }
}

/// A mapped file need not stay in memory: what was walked is given back, nearly all of it, and never what is to come.
#[test]
fn what_was_walked_is_given_back() {
    let _alone = alone();
    let text = list(200_000, |at| format!(r#"{{"ph":"X","ts":{at},"dur":1,"name":"step","pid":1,"tid":{}}}"#, at % 7));
    let first = text.as_ptr() as usize;
    let given: Arc<Mutex<Vec<(usize, usize)>>> = Arc::default();
    let seen = Arc::clone(&given);
    let release = Release::new(move |part| {
        let start = part.as_ptr() as usize - first;
        seen.lock().expect("no other test holds it").push((start, start + part.len()));
    });
    let options = ImportOptions { release: Some(release), ..ImportOptions::default() };
    let imported =
        import_inputs(&[Input::File(Source { name: "trace.json", bytes: &text })], options).expect("a trace");
    assert_eq!(imported.trace.events.len(), 200_000);
    let given = given.lock().expect("no other test holds it");
    assert!(given.windows(2).all(|pair| pair[0].1 == pair[1].0), "{given:?}");
    let bytes: usize = given.iter().map(|(start, end)| end - start).sum();
    assert!(bytes > text.len() * 99 / 100, "{bytes} of {}", text.len());
}

#[test]
fn depth_and_length_cost_nothing() {
    let _alone = alone();
    let open = |letter: &str, count: usize| letter.repeat(count);
    for (what, text) in [
        ("lists in lists", format!("{{\"traceEvents\":[{}", open("[", 1 << 20))),
        (
            "objects in arguments",
            format!("{{\"traceEvents\":[{{\"ph\":\"X\",\"ts\":1,\"args\":{}", open("{\"a\":", 1 << 18)),
        ),
        ("a name without end", format!("{{\"traceEvents\":[{{\"name\":\"{}", open("x", 1 << 20))),
        ("a number without end", format!("{{\"traceEvents\":[{{\"ph\":\"X\",\"ts\":{}", open("9", 1 << 20))),
        ("a header without end", format!("{{\"deviceProperties\":[{}", open("[", 1 << 20))),
    ] {
        let _ = survive(what, text.as_bytes());
    }
}

/// Damage costs what it touches, however much of it there is: the search for the next event goes on behind it.
#[test]
fn sound_events_behind_much_damage_are_read() {
    let sound = r#"{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},"#;
    for broken in [r#"{"a": {"b": "c},"#, r#"{"a": {"b": "c"d"},"#, "},{\"", r#"{"a":["#] {
        let text = format!("{{\"traceEvents\": [{}\n{}{sound}]}}", broken.repeat(20_000), sound.repeat(20_000));
        let imported = import(&[Source { name: "x", bytes: text.as_bytes() }], None).expect("most is sound");
        // At most what is looked at in vain is lost with it.
        let lost = 20_001 - imported.trace.events.len().min(20_001);
        assert!(lost * sound.len() <= 128 << 10, "{broken}: {lost} of 20001 sound events are lost");
    }
}

/// However much follows an event that was cut in its middle, only what cannot be told from it is lost with it.
#[test]
fn an_event_cut_at_the_front_costs_no_other() {
    let sound = r#"{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},"#;
    let count = (8 << 20) / sound.len();
    for cut in [r#"{"ph": "X", "args": {"a": [{"b": 1},"#, r#"{"ph": "X", "args": {"a": [{}, {"b": [[1,"#] {
        let text = format!("{{\"traceEvents\": [{cut}{}{{}}]}}", sound.repeat(count));
        let imported = import(&[Source { name: "x", bytes: text.as_bytes() }], None).expect("most is sound");
        let read = imported.trace.events.len();
        assert!(read + 1 >= count, "{cut}: {read} of {count} sound events are read");
    }
}
