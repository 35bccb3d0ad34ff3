//! The documents of the rules are their tests: each example is a capture in the notation of `ridge_test`, with the HLO that it
//! names, and what the rule says of it.
//!
//! `UPDATE_EXPECT=1` writes what is said into the documents, to be read before it is committed.

use super::RULES;
use crate::{
    Case, Compiled, CompiledAgain, Diagnosis, Finding, Known, Place, Rule, SavingBasis, Seen, Selection, StepTimes,
    diagnose,
};
use ridge_analysis::{CompilingCall, Prepared};
use ridge_hlo::HloModule;
use ridge_table::{Note, Severity};
use ridge_units::Nanos;
use std::fmt::Write as _;
use std::path::PathBuf;

/// One fenced block of a document.
struct Block<'d> {
    kind: &'d str,
    text: &'d str,
}

fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut rest = document;
    while let Some((_, after)) = rest.split_once("```") {
        let Some((kind, body)) = after.split_once('\n') else { break };
        let Some((text, left)) = body.split_once("```") else { break };
        found.push(Block { kind: kind.trim(), text });
        rest = left;
    }
    found
}

/// What the rule says of the capture in `text`, with `hlo` and `notes` beside it.
fn said(rule: &'static Rule, text: &str, hlo: &[&str], notes: &str) -> String {
    render(rule, &diagnosed(rule, text, hlo, notes))
}

fn diagnosed(rule: &'static Rule, text: &str, hlo: &[&str], notes: &str) -> Diagnosis {
    let mut trace = ridge_test::trace(text);
    let looks: Vec<&str> = notes.lines().filter_map(|line| line.strip_prefix("look: ")).collect();
    add_looks(&mut trace, &looks);
    notes.lines().filter_map(|line| line.strip_prefix("watched: ")).for_each(|line| add_watched(&mut trace, line));
    let modules: Vec<HloModule> =
        hlo.iter().map(|text| HloModule::from_text(text).expect("HLO of the document")).collect();
    let prepared = Prepared::with_sheets(&trace);
    let compiled_again: Vec<CompiledAgain> = notes.lines().filter_map(compiled_again).collect();
    let seen: Vec<Seen> = notes.lines().filter_map(|line| seen(rule, &trace, line)).collect();
    let known = Known {
        is_predicted: !seen.is_empty(),
        seen,
        notes: notes.lines().filter_map(note).collect(),
        step_times: notes.lines().find_map(step_times),
        cpu_waited: notes.lines().find_map(|line| line.strip_prefix("cpu: ")?.parse().ok()).unwrap_or(0.0),
        main_memory_bytes: None,
        failed: notes.lines().any(|line| line == "failed"),
        compilations: notes.lines().filter_map(compiled).collect(),
        compiled_again: Some(compiled_again).filter(|again| !again.is_empty()),
        doubles_asked_at: notes.lines().find_map(doubles_asked_at),
    };
    let case = Case { analysis: prepared.analysis(&trace, &modules), known: &known };
    let selection = Selection { only: vec![rule.id.to_owned()], ignored: Vec::new() };
    diagnose(&case, &selection)
}

/// Looks at the program's Python, as lines of a document have them: `look: TIMES, FILE:LINE:FUNCTION, CALL over LOOP apart <- FILE:LINE, CALL, in FUNCTION`,
/// of which what is further out and the innermost function may be missing.
fn add_looks(trace: &mut ridge_trace::Trace, looks: &[&str]) {
    let mut found: Vec<(i64, u32)> = Vec::new();
    for look in looks {
        let (look, innermost) = look.split_once(", in ").unwrap_or((look, ""));
        let (times, places) = look.split_once(", ").expect("TIMES, PLACES");
        let mut id = |text: &str| trace.strings.intern(text);
        let mut rows = Vec::new();
        for place in places.split(" <- ") {
            let (place, call) = place.split_once(", ").unwrap_or((place, ""));
            let (call, over) = call.split_once(" over ").unwrap_or((call, ""));
            let (over, is_apart) = over.strip_suffix(" apart").map_or((over, false), |over| (over, true));
            let (file, line) = place.split_once(':').expect("FILE:LINE");
            let (line, function) = line.split_once(':').unwrap_or((line, "main"));
            let (file, call, function, loops) = (id(file), id(call), id(function), u32::from(!over.is_empty()));
            let (over, line) = (id(over), line.parse().expect("a line"));
            rows.push(trace.python.places.len() as u32);
            trace.python.places.push(ridge_trace::PythonPlace { file, line, function, call, over, is_apart, loops });
        }
        let (row, innermost) = (trace.python.stacks.len() as u32, id(innermost));
        trace.python.stacks.push(ridge_trace::PythonStack { places: rows, innermost, ..Default::default() });
        found.extend(times.split(' ').map(|time| (time.parse().expect("a time"), row)));
    }
    if !found.is_empty() {
        found.sort_unstable();
        let (at_ns, stack) = found.into_iter().unzip();
        trace.python.threads.push(ridge_trace::PythonThread { at_ns, stack, is_main: true, ..Default::default() });
    }
}

/// What was watched of the first process, as a line of a document has it: `watched: again MODULE CALLS AGAIN FILE:LINE`,
/// `watched: padding SHARE BEYOND_LONGEST LOOKS FILE:LINE` and of JAX ` FUNCTION EXTENT`, `watched: unread NUMBERS OF ARRAYS NAME`,
/// `watched: conversions PART CALLS KIND FILE:LINE`, `watched: workers WORKERS PASSES`, `watched: zeros NAME ROWSxCOLUMNS SHARE FILE:LINE MOST_IN_ROW`,
/// `watched: recomputed NAME SIZES AGAIN FILE:LINE LAST_LINE`.
fn add_watched(trace: &mut ridge_trace::Trace, line: &str) {
    let parts: Vec<&str> = line.split(' ').collect();
    let number = |at: usize| parts[at].parse::<f64>().expect("a number");
    let mut place = || {
        let (file, line) = parts[4].split_once(':').expect("FILE:LINE");
        let mut id = |text: &str| trace.strings.intern(text);
        let (file, call, function) = (id(file), id(""), id("main"));
        Some(ridge_trace::PythonPlace {
            file,
            line: line.parse().expect("a line"),
            function,
            call,
            over: call,
            is_apart: false,
            loops: 0,
        })
    };
    let mut watched = ridge_trace::Watched::default();
    match parts[0] {
        "again" => watched.repeated.push(ridge_trace::RepeatedCalls {
            module: parts[1].to_owned(),
            calls: number(2) as u64,
            again: number(3) as u64,
            place: place(),
        }),
        "padding" => {
            let (share, beyond_longest, looks) = (number(1), number(2), number(3) as u64);
            let function = parts.get(5).map_or_else(String::new, |name| (*name).to_owned());
            let extent = parts.get(6).map_or(0, |extent| extent.parse().expect("an extent"));
            let place = place();
            watched.padding = Some(ridge_trace::Padding { share, beyond_longest, looks, place, function, extent });
        }
        "cleared" => watched.cleared_gradients.push(ridge_trace::ClearedGradients {
            optimizer: parts[1].to_owned(),
            numbers: number(2) as u64,
            times: number(3) as u64,
            of: number(4) as u64,
            place: None,
        }),
        "workers" => watched.restarted_workers.push(ridge_trace::RestartedWorkers {
            workers: number(1) as u64,
            passes: number(2) as u64,
            place: None,
        }),
        "steady" => watched.steady.push(ridge_trace::SteadyArguments {
            function: parts[1].to_owned(),
            looks: number(2) as u64,
            arguments: parts[3..].iter().map(|name| (*name).to_owned()).collect(),
            changing: Vec::new(),
        }),
        "changing" => watched.steady.push(ridge_trace::SteadyArguments {
            function: parts[1].to_owned(),
            changing: parts[2..].iter().map(|name| (*name).to_owned()).collect(),
            ..ridge_trace::SteadyArguments::default()
        }),
        "conversions" => watched.conversions.push(ridge_trace::Conversions {
            part: number(1),
            calls: number(2) as u64,
            of: format!("`torch.tensor` of a {} of NumPy arrays", parts[3]),
            place: place(),
        }),
        "recomputed" => watched.recomputed.push(ridge_trace::RecomputedValue {
            name: parts[1].to_owned(),
            extents: parts[2].split('x').map(|extent| extent.parse().expect("an extent")).collect(),
            again: number(3) as u64,
            place: place(),
            until: parts[5].parse().expect("a line"),
        }),
        "zeros" => watched.zeros.push(ridge_trace::ZeroMatrix {
            name: parts[1].to_owned(),
            extents: parts[2].split('x').map(|extent| extent.parse().expect("an extent")).collect(),
            zeros: number(3),
            place: place(),
            most_in_row: number(5) as u64,
            looks: 1,
        }),
        _ => {
            watched.unread_gradients = Some(ridge_trace::UnreadGradients {
                numbers: number(1) as u64,
                of: number(2) as u64,
                arrays: number(3) as u64,
                names: vec![parts[4].to_owned()],
            });
        }
    }
    trace.python.watched.push(watched);
}

/// Medians of steps, as a line of a document has them: `steps: RECORDED_NS NOT_RECORDED_NS`.
fn step_times(line: &str) -> Option<StepTimes> {
    let (recorded_ns, not_recorded_ns) = line.strip_prefix("steps: ")?.split_once(' ')?;
    Some(StepTimes { recorded_ns: recorded_ns.parse().ok()?, not_recorded_ns: not_recorded_ns.parse().ok()? })
}

/// The line that has JAX compute in double precision, as a line of a document has it: `doubles: FILE:LINE`.
fn doubles_asked_at(line: &str) -> Option<Place> {
    let (file, line) = line.strip_prefix("doubles: ")?.rsplit_once(':')?;
    Some(Place { file: file.to_owned(), line: line.parse().ok()?, is_inferred: false })
}

/// What the recorder wrote of compilations, as a line of a document has it: `compiled: MODULE, COUNT, SECONDS`, and the line that had
/// all of it compiled where it is known: `, FILE:LINE`.
fn compiled(line: &str) -> Option<Compiled> {
    let mut parts = line.strip_prefix("compiled: ")?.splitn(4, ", ");
    let (module, count, compile_s) =
        (parts.next()?.to_owned(), parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let line = parts.next().and_then(|place| place.split_once(':'));
    let call = line.and_then(|(file, line)| {
        let (file, line) = (file.to_owned(), line.parse().ok()?);
        Some(CompilingCall { file, line, count, ..CompilingCall::default() })
    });
    Some(Compiled { module, count, compile_s, parameters: Vec::new(), calls: call.into_iter().collect() })
}

/// What a benchmark says, as a line of a document has it: `again: what it was, MODULE, NANOSECONDS`.
fn compiled_again(line: &str) -> Option<CompiledAgain> {
    let mut parts = line.strip_prefix("again: ")?.rsplitn(3, ", ");
    let (compile_ns, module, says) = (parts.next()?.parse().ok()?, parts.next()?.to_owned(), parts.next()?.to_owned());
    Some(CompiledAgain { says, module: Some(module), compile_ns })
}

/// What the code of a kernel shows, as a line of a document has it: `seen: INSTRUCTION, PART, what it does`; of a part that
/// nobody knows a question mark. It is in the first module.
fn seen(rule: &Rule, trace: &ridge_trace::Trace, line: &str) -> Option<Seen> {
    let mut parts = line.strip_prefix("seen: ")?.splitn(3, ", ");
    let (instruction, part, what) = (parts.next()?.to_owned(), parts.next()?.parse().ok(), parts.next()?.to_owned());
    let module = trace.modules.first()?;
    Some(Seen {
        rule: rule.id,
        module: trace.strings.get(module.name).to_owned(),
        program_id: module.program_id,
        instruction,
        what,
        why: "why it costs time",
        help: "what may help",
        part,
    })
}

/// A note as a line of a document has it: `lost: what happened`.
fn note(line: &str) -> Option<Note> {
    let (severity, message) = line.split_once(": ")?;
    let severity = match severity {
        "again" | "compiled" | "cpu" | "doubles" | "look" | "seen" | "steps" | "watched" => return None,
        "lost" => Severity::Lost,
        "partial" => Severity::Partial,
        _ => Severity::Info,
    };
    Some(Note::new(severity, message))
}

fn render(rule: &Rule, found: &Diagnosis) -> String {
    let mut text = String::new();
    for (_, doubt) in found.doubts.iter().filter(|(by, _)| by.id == rule.id) {
        let blocks: Vec<&str> = doubt.blocks.iter().map(|question| question.words()).collect();
        let blocks = if blocks.is_empty() { "nothing".to_owned() } else { blocks.join("; ") };
        let _ = writeln!(text, "doubt: {}\n  blocks: {blocks}", doubt.message);
        doubt.command.iter().for_each(|command| writeln!(text, "  command: {command}").unwrap_or_default());
    }
    found.findings.iter().for_each(|finding| text.push_str(&lines_of(finding)));
    for outcome in found.outcomes.iter().filter(|outcome| outcome.rule.id == rule.id) {
        if let Err(cannot) = &outcome.found {
            let _ = writeln!(text, "cannot tell: {}", cannot.why);
            cannot.command.iter().for_each(|command| writeln!(text, "  command: {command}").unwrap_or_default());
        }
    }
    if text.is_empty() { "nothing\n".to_owned() } else { text }
}

fn lines_of(finding: &Finding) -> String {
    let mut text = format!("{}: {}\n", finding.level.name(), finding.message);
    if let Some(place) = &finding.place {
        let inferred = if place.is_inferred { " (inferred)" } else { "" };
        let _ = writeln!(text, "  at {}:{}{inferred}", place.file, place.line);
    }
    if !finding.is_information {
        let _ = writeln!(text, "  holds {:.1}%", 100.0 * finding.share);
    }
    for evidence in &finding.evidence {
        let number = evidence.number.map(|number| format!("{} {}, ", number.value, number.unit.name()));
        let _ = writeln!(text, "  evidence: {}{}", number.unwrap_or_default(), evidence.says);
    }
    let _ = writeln!(text, "  why: {}\n  help: {}", finding.why, finding.help);
    if let Some(saving) = finding.saving.as_ref().filter(|saving| saving.basis == SavingBasis::Replay) {
        let _ =
            writeln!(text, "  saves {} to {} per {}", Nanos(saving.low_ns), Nanos(saving.high_ns), saving.per.name());
    }
    text
}

fn path_of(rule: &Rule) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/rules").join(format!("{}.md", rule.id.replace('-', "_")))
}

#[test]
fn every_document_says_what_its_rule_finds() {
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = String::new();
    for rule in RULES {
        let mut document = std::fs::read_to_string(path_of(rule)).expect("a document for each rule");
        let (mut capture, mut hlo, mut notes) = ("", Vec::new(), "");
        let mut replacements: Vec<(String, String)> = Vec::new();
        for block in blocks(&document) {
            match block.kind {
                "trace" => (capture, hlo, notes) = (block.text, Vec::new(), ""),
                "hlo" => hlo.push(block.text),
                "notes" => notes = block.text,
                "says" => {
                    let said = said(rule, capture, &hlo, notes);
                    if said != block.text {
                        let _ = writeln!(wrong, "{}:\n--- expected\n{}--- said\n{said}", rule.id, block.text);
                    }
                    replacements.push((block.text.to_owned(), said));
                }
                _ => {}
            }
        }
        if updates {
            let mut from = 0;
            for (before, after) in replacements {
                let fence = format!("```says\n{before}```");
                let Some(at) = document[from..].find(&fence).map(|at| at + from) else { continue };
                let updated = format!("```says\n{after}```");
                document.replace_range(at..at + fence.len(), &updated);
                from = at + updated.len();
            }
            std::fs::write(path_of(rule), document).expect("the document can be written");
        }
    }
    assert!(wrong.is_empty() || updates, "{wrong}");
}

#[test]
fn every_document_has_its_parts_and_a_silent_example() {
    for rule in RULES {
        assert!(rule.id.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-'));
        assert!(rule.document.starts_with(&format!("# {}\n", rule.id)), "{}: the title is not its name", rule.id);
        for part in
            ["## What to do", "## How the saving is computed", "## When it is wrong", "## Sources", "## Examples"]
        {
            assert!(rule.document.contains(part), "{}: no part {part}", rule.id);
        }
        let said: Vec<&str> =
            blocks(rule.document).iter().filter(|block| block.kind == "says").map(|block| block.text).collect();
        let is_silent =
            |text: &&str| !text.contains("warning:") && !text.contains("error:") && !text.contains("doubt:");
        assert!(said.iter().any(is_silent), "{}: no example where it is silent", rule.id);
        assert!(said.iter().any(|text| *text != "nothing\n"), "{}: no example where it speaks", rule.id);
    }
}

#[test]
fn names_are_of_a_kind_and_explain_others() {
    for (position, rule) in RULES.iter().enumerate() {
        assert!(RULES[..position].iter().all(|other| other.id != rule.id), "{} is there twice", rule.id);
        for explained in rule.explains {
            assert!(
                RULES.iter().any(|other| other.id == *explained),
                "{} explains {explained}, which is no rule",
                rule.id
            );
        }
    }
}

#[test]
fn on_processors_a_finding_saves_its_part_of_the_time() {
    let rule = RULES.iter().find(|rule| rule.id == "sequential-updates").expect("a rule");
    let blocks = blocks(rule.document);
    let first = |kind: &str| blocks.iter().find(|block| block.kind == kind).expect("an example").text;
    let found = |trace: &str| {
        let diagnosis = diagnosed(rule, trace, &[first("hlo")], "");
        let finding = diagnosis.findings.into_iter().next().expect("a finding");
        (finding.share, finding.saving.expect("a saving"))
    };
    let (share, saving) = found(first("trace"));
    assert_eq!(saving.basis, SavingBasis::ShareOfTime);
    assert!(saving.share_low <= share + 1e-6 && share <= saving.share_high + 1e-6 && saving.share_high <= 1.0);
    assert!(saving.low_ns > 0);
    let (_, elsewhere) = found(&first("trace").replace("/device:CPU:0", "/device:GPU:0"));
    assert_ne!(elsewhere.basis, SavingBasis::ShareOfTime);
}
