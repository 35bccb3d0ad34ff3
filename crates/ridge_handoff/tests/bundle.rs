//! From HLO text to a bundle: what is generated holds, what was changed is found, what cannot be specified is refused.

use ridge_handoff::bundle::{Check, CheckState, Files, MANIFEST, Source, files, manifest, write};
use ridge_handoff::verify::{Place, Running, of_code, open, verify};
use ridge_handoff::{Fixed, lower};
use ridge_hlo::HloModule;
use serde_json::json;
use std::fs;
use std::path::Path;

/// The median of three neighbors, twice it, and a half: a window.
const MEDIAN: &str = "HloModule median\n
%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

ENTRY %main (x: f32[18]) -> f32[16] {
  %x = f32[18]{0} parameter(0)
  %s0 = f32[16]{0} slice(%x), slice={[0:16]}
  %s1 = f32[16]{0} slice(%x), slice={[1:17]}
  %s2 = f32[16]{0} slice(%x), slice={[2:18]}
  %r0 = f32[1,16]{1,0} reshape(%s0)
  %r1 = f32[1,16]{1,0} reshape(%s1)
  %r2 = f32[1,16]{1,0} reshape(%s2)
  %all = f32[3,16]{1,0} concatenate(%r0, %r1, %r2), dimensions={0}
  %sorted = f32[3,16]{1,0} sort(%all), dimensions={0}, to_apply=%less
  %mid = f32[1,16]{1,0} slice(%sorted), slice={[1:2], [0:16]}
  %flat = f32[16]{0} bitcast(%mid)
  %twice = f32[16]{0} add(%flat, %flat)
  %half = f32[] constant(0.5)
  %halves = f32[16]{0} broadcast(%half), dimensions={}
  ROOT %y = f32[16]{0} multiply(%twice, %halves)
}
";

/// Everything that only moves elements, sums, products, indices from data, and integers.
const MIXED: &str = "HloModule mixed\n
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%fused (p: f32[4,6]) -> f32[6,4] {
  %p = f32[4,6]{1,0} parameter(0)
  %sin = f32[4,6]{1,0} sine(%p)
  ROOT %t = f32[6,4]{1,0} transpose(%sin), dimensions={1,0}
}

ENTRY %main (x: f32[4,6], i: s32[3,1], k: u8[5]) -> (f32[6], f32[3,4], f32[6,6], s32[5], f32[4,3]) {
  %x = f32[4,6]{1,0} parameter(0)
  %i = s32[3,1]{1,0} parameter(1)
  %k = u8[5]{0} parameter(2)
  %t = f32[6,4]{1,0} fusion(%x), kind=kLoop, calls=%fused
  %zero = f32[] constant(0)
  %sum = f32[6]{0} reduce(%t, %zero), dimensions={1}, to_apply=%add
  %rows = f32[3,4]{1,0} gather(%t, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  %product = f32[6,6]{1,0} dot(%t, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %wide = s32[5]{0} convert(%k)
  %three = s32[] constant(3)
  %threes = s32[5]{0} broadcast(%three), dimensions={}
  %shifted = s32[5]{0} shift-left(%wide, %threes)
  %count = s32[5]{0} iota(), iota_dimension=0
  %divided = s32[5]{0} divide(%shifted, %count)
  %padded = f32[8,6]{1,0} pad(%t, %zero), padding=1_1x1_1
  %windows = f32[4,3]{1,0} reduce-window(%padded, %zero), window={size=3x2 stride=2x2 pad=1_0x0_0}, to_apply=%add
  ROOT %out = (f32[6]{0}, f32[3,4]{1,0}, f32[6,6]{1,0}, s32[5]{0}, f32[4,3]{1,0}) tuple(%sum, %rows, %product, %divided, %windows)
}
";

/// Sums, products, comparisons and choices of single precision over three neighbors.
const STENCIL: &str = "HloModule stencil\n
ENTRY %main (x: f32[34]) -> f32[32] {
  %x = f32[34]{0} parameter(0)
  %left = f32[32]{0} slice(%x), slice={[0:32]}
  %here = f32[32]{0} slice(%x), slice={[1:33]}
  %right = f32[32]{0} slice(%x), slice={[2:34]}
  %sum = f32[32]{0} add(%left, %right)
  %quarter = f32[] constant(0.25)
  %quarters = f32[32]{0} broadcast(%quarter), dimensions={}
  %scaled = f32[32]{0} multiply(%sum, %quarters)
  %square = f32[32]{0} multiply(%here, %here)
  %less = f32[32]{0} subtract(%scaled, %square)
  %most = f32[32]{0} maximum(%less, %here)
  %size = f32[32]{0} abs(%left)
  %is_more = pred[32]{0} compare(%most, %size), direction=GE
  %turned = f32[32]{0} negate(%right)
  %least = f32[32]{0} minimum(%turned, %most)
  ROOT %y = f32[32]{0} select(%is_more, %most, %least)
}
";

/// Five trips over a line of numbers; of the state one array is the one before, and one stays.
const RELAXED: &str = "HloModule relaxed\n
%body (p: (s32[], f32[16], f32[16], f32[16])) -> (s32[], f32[16], f32[16], f32[16]) {
  %p = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[16]{0} get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %pull = f32[16]{0} get-tuple-element(%p), index=3
  %left = f32[14]{0} slice(%x), slice={[0:14]}
  %right = f32[14]{0} slice(%x), slice={[2:16]}
  %sum = f32[14]{0} add(%left, %right)
  %half = f32[] constant(0.5)
  %halves = f32[14]{0} broadcast(%half), dimensions={}
  %mean = f32[14]{0} multiply(%sum, %halves)
  %zero = f32[] constant(0)
  %padded = f32[16]{0} pad(%mean, %zero), padding=1_1
  %moved = f32[16]{0} subtract(%padded, %pull)
  ROOT %out = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) tuple(%next, %moved, %x, %pull)
}

%condition (p: (s32[], f32[16], f32[16], f32[16])) -> pred[] {
  %p = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %five = s32[] constant(5)
  ROOT %less = pred[] compare(%i, %five), direction=LT
}

ENTRY %main (x: f32[16], pull: f32[16]) -> f32[16] {
  %x = f32[16]{0} parameter(0)
  %pull = f32[16]{0} parameter(1)
  %zero = s32[] constant(0)
  %begin = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) tuple(%zero, %x, %x, %pull)
  %loop = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) while(%begin), condition=%condition, body=%body
  %last = f32[16]{0} get-tuple-element(%loop), index=1
  %before = f32[16]{0} get-tuple-element(%loop), index=2
  ROOT %y = f32[16]{0} add(%last, %before)
}
";

/// A loop in a loop, which goes on as often as a number of the outer one's state says, and writes where its counter says.
const NESTED: &str = "HloModule nested\n
%inner_body (p: (s32[], f32[], f32[8])) -> (s32[], f32[], f32[8]) {
  %p = (s32[], f32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %two = s32[] constant(2)
  %next = s32[] add(%i, %two)
  %sum = f32[] get-tuple-element(%p), index=1
  %x = f32[8]{0} get-tuple-element(%p), index=2
  %one = f32[1]{0} dynamic-slice(%x, %i), dynamic_slice_sizes={1}
  %scalar = f32[] reshape(%one)
  %more = f32[] add(%sum, %scalar)
  %square = f32[1]{0} multiply(%one, %one)
  %put = f32[8]{0} dynamic-update-slice(%x, %square, %i)
  ROOT %out = (s32[], f32[], f32[8]{0}) tuple(%next, %more, %put)
}

%inner_condition (p: (s32[], f32[], f32[8])) -> pred[] {
  %p = (s32[], f32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %eight = s32[] constant(8)
  ROOT %less = pred[] compare(%i, %eight), direction=LT
}

%body (p: (s32[], f32[8], s32[], s32[])) -> (s32[], f32[8], s32[], s32[]) {
  %p = (s32[], f32[8]{0}, s32[], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %first = s32[] get-tuple-element(%p), index=2
  %last = s32[] get-tuple-element(%p), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %none = f32[] constant(0)
  %begin = (s32[], f32[], f32[8]{0}) tuple(%first, %none, %x)
  %loop = (s32[], f32[], f32[8]{0}) while(%begin), condition=%inner_condition, body=%inner_body
  %sum = f32[] get-tuple-element(%loop), index=1
  %put = f32[8]{0} get-tuple-element(%loop), index=2
  %sums = f32[8]{0} broadcast(%sum), dimensions={}
  %eighth = f32[] constant(0.125)
  %eighths = f32[8]{0} broadcast(%eighth), dimensions={}
  %part = f32[8]{0} multiply(%sums, %eighths)
  %y = f32[8]{0} subtract(%put, %part)
  ROOT %out = (s32[], f32[8]{0}, s32[], s32[]) tuple(%next, %y, %first, %last)
}

%condition (p: (s32[], f32[8], s32[], s32[])) -> pred[] {
  %p = (s32[], f32[8]{0}, s32[], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %last = s32[] get-tuple-element(%p), index=3
  ROOT %less = pred[] compare(%i, %last), direction=LT
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %one = s32[] constant(1)
  %three = s32[] constant(3)
  %begin = (s32[], f32[8]{0}, s32[], s32[]) tuple(%zero, %x, %one, %three)
  %loop = (s32[], f32[8]{0}, s32[], s32[]) while(%begin), condition=%condition, body=%body
  ROOT %y = f32[8]{0} get-tuple-element(%loop), index=1
}
";

/// Sums so far, each put into its place of an array that nothing else reads.
const SUMS: &str = "HloModule sums\n
%body (p: (s32[], f32[], f32[6], f32[6])) -> (s32[], f32[], f32[6], f32[6]) {
  %p = (s32[], f32[], f32[6]{0}, f32[6]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %sum = f32[] get-tuple-element(%p), index=1
  %all = f32[6]{0} get-tuple-element(%p), index=2
  %x = f32[6]{0} get-tuple-element(%p), index=3
  %part = f32[1]{0} dynamic-slice(%x, %i), dynamic_slice_sizes={1}
  %number = f32[] reshape(%part)
  %more = f32[] add(%sum, %number)
  %square = f32[] multiply(%more, %more)
  %line = f32[1]{0} reshape(%square)
  %put = f32[6]{0} dynamic-update-slice(%all, %line, %i)
  ROOT %out = (s32[], f32[], f32[6]{0}, f32[6]{0}) tuple(%next, %more, %put, %x)
}

%condition (p: (s32[], f32[], f32[6], f32[6])) -> pred[] {
  %p = (s32[], f32[], f32[6]{0}, f32[6]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %six = s32[] constant(6)
  ROOT %less = pred[] compare(%i, %six), direction=LT
}

ENTRY %main (x: f32[6]) -> (f32[6], f32[]) {
  %x = f32[6]{0} parameter(0)
  %zero = s32[] constant(0)
  %none = f32[] constant(0)
  %nones = f32[6]{0} broadcast(%none), dimensions={}
  %begin = (s32[], f32[], f32[6]{0}, f32[6]{0}) tuple(%zero, %none, %nones, %x)
  %loop = (s32[], f32[], f32[6]{0}, f32[6]{0}) while(%begin), condition=%condition, body=%body
  %all = f32[6]{0} get-tuple-element(%loop), index=2
  %sum = f32[] get-tuple-element(%loop), index=1
  ROOT %out = (f32[6]{0}, f32[]) tuple(%all, %sum)
}
";

/// Sums of rows, whole windows, and a loop that adds to places of its state.
const SCATTERED: &str = "HloModule scattered\n
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%second (d: f32[], e: f32[]) -> f32[] {
  %d = f32[] parameter(0)
  ROOT %e = f32[] parameter(1)
}

%body (p: (s32[], f32[9], s32[6,1], f32[6])) -> (s32[], f32[9], s32[6,1], f32[6]) {
  %p = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%n, %one)
  %sums = f32[9]{0} get-tuple-element(%p), index=1
  %at = s32[6,1]{1,0} get-tuple-element(%p), index=2
  %more = f32[6]{0} get-tuple-element(%p), index=3
  %put = f32[9]{0} scatter(%sums, %at, %more), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  ROOT %out = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) tuple(%next, %put, %at, %more)
}

%condition (p: (s32[], f32[9], s32[6,1], f32[6])) -> pred[] {
  %p = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %three = s32[] constant(3)
  ROOT %less = pred[] compare(%n, %three), direction=LT
}

ENTRY %main (x: f32[5,3], i: s32[7,1], u: f32[7,3], j: s32[2,4], w: f32[2,4,2], h: s32[6,1], v: f32[6]) -> (f32[5,3], f32[5,3], f32[9]) {
  %x = f32[5,3]{1,0} parameter(0)
  %i = s32[7,1]{1,0} parameter(1)
  %u = f32[7,3]{1,0} parameter(2)
  %j = s32[2,4]{1,0} parameter(3)
  %w = f32[2,4,2]{2,1,0} parameter(4)
  %h = s32[6,1]{1,0} parameter(5)
  %v = f32[6]{0} parameter(6)
  %rows = f32[5,3]{1,0} scatter(%x, %i, %u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  %windows = f32[5,3]{1,0} scatter(%x, %j, %w), update_window_dims={0,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=%second
  %zero = s32[] constant(0)
  %none = f32[] constant(0)
  %nones = f32[9]{0} broadcast(%none), dimensions={}
  %begin = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) tuple(%zero, %nones, %h, %v)
  %loop = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) while(%begin), condition=%condition, body=%body
  %sums = f32[9]{0} get-tuple-element(%loop), index=1
  ROOT %out = (f32[5,3]{1,0}, f32[5,3]{1,0}, f32[9]{0}) tuple(%rows, %windows, %sums)
}
";

/// Places that are given: one twice, one outside; a window that is partly outside.
const PLACED: &str = "HloModule placed\n
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%second (d: f32[], e: f32[]) -> f32[] {
  %d = f32[] parameter(0)
  ROOT %e = f32[] parameter(1)
}

ENTRY %main (z: f32[4]) -> (f32[3], f32[4]) {
  %z = f32[4]{0} parameter(0)
  %x = f32[3]{0} constant({10, 20, 30})
  %i = s32[4,1]{1,0} constant({ {0}, {2}, {0}, {9} })
  %u = f32[4]{0} constant({1, 2, 4, 8})
  %sums = f32[3]{0} scatter(%x, %i, %u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  %none = f32[4]{0} subtract(%z, %z)
  %j = s32[2,1]{1,0} constant({ {1}, {3} })
  %w = f32[2,2]{1,0} constant({ {1, 2}, {3, 4} })
  %put = f32[4]{0} scatter(%none, %j, %w), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%second
  ROOT %out = (f32[3]{0}, f32[4]{0}) tuple(%sums, %put)
}
";

fn formats() -> Vec<Fixed> {
    ["fixed<24,12>", "fixed<16,8>"].iter().map(|text| text.parse().expect("a format")).collect()
}

fn source(text: &str) -> (HloModule, Source) {
    let module = HloModule::from_text(text).expect("HLO");
    let source = Source {
        region: "test".to_owned(),
        module: module.name.clone(),
        computation: "main".to_owned(),
        is_whole: true,
        hlo: module.to_text(),
        region_hlo: module.to_text(),
        ..Source::default()
    };
    (module, source)
}

fn made(text: &str) -> (Files, Source) {
    let (module, source) = source(text);
    let program = lower(&module, module.entry.expect("an entry")).expect("a program");
    (files(&program, &source, &formats(), &mut |_| {}).expect("files"), source)
}

fn written(text: &str, folder: &Path) -> Files {
    let (files, source) = made(text);
    put(&files, &source, folder);
    files
}

/// Writes files with a manifest that fits them.
fn put(files: &Files, source: &Source, folder: &Path) {
    write(files, folder).expect("written");
    fs::write(folder.join(MANIFEST), manifest(files, source, None, &json!({}), &[])).expect("written");
}

/// That a check fails where code of a bundle is replaced by other code.
fn fails(test: &str, check: &str, text: &str, path: &str, from: &str, to: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, source) = made(text);
    let code = String::from_utf8(files[path].clone()).expect("text");
    assert!(code.contains(from), "{path} lacks {from}");
    files.insert(path.to_owned(), code.replace(from, to).into_bytes());
    // Other designs would only take time.
    files.retain(|name, _| {
        ["rtl/", "rtl_f32/", "xls/"].iter().all(|other| path.starts_with(other) || !name.starts_with(other))
    });
    put(&files, &source, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    let check = ledger.iter().find(|one| one.name == check).expect("the check");
    if check.state == CheckState::NotRun {
        println!("skipped: {test}: {}", check.found);
    } else {
        assert_eq!(check.state, CheckState::Failed, "{}", check.found);
    }
}

/// The checks that did not pass, as lines; those that lack a tool are skipped aloud.
fn problems(test: &str, ledger: &[Check]) -> Vec<String> {
    let must_run = std::env::var_os("RIDGELINE_HARDWARE").is_some();
    // Those need a Python with JAX or XLS, and are asked when a bundle is made.
    let engines = |check: &&Check| !check.name.ends_with("within the bound") && !check.name.contains("XLS");
    // No tool that could be installed has a model of these multipliers.
    let proven = |check: &&Check| check.name != "netlist proof" || !check.found.contains("DSP48E2");
    let mut found = Vec::new();
    for check in ledger.iter().filter(engines).filter(proven).filter(|check| check.state != CheckState::Passed) {
        if check.state == CheckState::NotRun && !must_run {
            println!("skipped: {test}: {}: {}", check.name, check.found);
        } else {
            found.push(format!("{} {}: {}", check.name, check.state.name(), check.found));
        }
    }
    found
}

#[test]
fn a_window_holds_in_every_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(MEDIAN, folder.path());
    assert!(
        files.contains_key("rtl/kernel.v"),
        "{:?}",
        files.get("spec/verilog.txt").map(|why| String::from_utf8_lossy(why))
    );
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("a_window_holds_in_every_language", &ledger), Vec::<String>::new());
    assert!(ledger.iter().any(|check| check.name == "interpreter" && check.state == CheckState::Passed));
}

/// The median of three by three, or of three by three by three, neighbors; zeros lie around the input.
fn medians(extents: &[usize]) -> String {
    let dims = |extents: &[usize]| extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (own, rank) = (dims(extents), extents.len());
    let around: Vec<usize> = extents.iter().map(|extent| extent + 2).collect();
    let lines = 3_usize.pow(rank as u32);
    let mut text = format!(
        "HloModule medians\n\n%less (a: f32[], b: f32[]) -> pred[] {{\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %lt = pred[] compare(%a, %b), direction=LT\n}}\n\nENTRY %main (x: f32[{own}]) -> f32[{own}] {{\n  %x = f32[{own}] parameter(0)\n  %zero = f32[] constant(0)\n  %p = f32[{}] pad(%x, %zero), padding={}\n",
        dims(&around),
        vec!["1_1"; rank].join("x")
    );
    let mut names = Vec::new();
    for number in 0..lines {
        let ranges = extents.iter().enumerate().map(|(dim, extent)| {
            let off = number / 3_usize.pow(dim as u32) % 3;
            format!("[{off}:{}]", off + extent)
        });
        let ranges: Vec<String> = ranges.collect();
        text += &format!("  %s{number} = f32[{own}] slice(%p), slice={{{}}}\n", ranges.join(", "));
        text += &format!("  %r{number} = f32[1,{own}] reshape(%s{number})\n");
        names.push(format!("%r{number}"));
    }
    let whole: Vec<String> = extents.iter().map(|extent| format!("[0:{extent}]")).collect();
    let (middle, after) = (lines / 2, lines / 2 + 1);
    text += &format!("  %all = f32[{lines},{own}] concatenate({}), dimensions={{0}}\n", names.join(", "));
    text += &format!("  %sorted = f32[{lines},{own}] sort(%all), dimensions={{0}}, to_apply=%less\n");
    text += &format!("  %mid = f32[1,{own}] slice(%sorted), slice={{[{middle}:{after}], {}}}\n", whole.join(", "));
    text + &format!("  ROOT %y = f32[{own}] reshape(%mid)\n}}\n")
}

/// What these checks find in a bundle with a core.
fn core_of(text: &str, checks: &[&str], change: impl FnOnce(&mut Files)) -> Vec<Check> {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, source) = made(text);
    assert!(
        files.contains_key("rtl/core.v"),
        "{:?}",
        files.get("spec/core.txt").map(|why| String::from_utf8_lossy(why))
    );
    change(&mut files);
    put(&files, &source, folder.path());
    let bundle = open(folder.path()).expect("a bundle");
    let place = Place::new(&bundle, Running::Everything);
    let jobs = of_code(&bundle, &place).into_iter().filter(|job| checks.contains(&job.name.as_str()));
    let found: Vec<Check> = jobs.flat_map(|job| (job.run)()).collect();
    assert_eq!(found.len(), checks.len());
    found
}

#[test]
fn a_core_gives_the_golden_vectors_under_stalls_and_resets() {
    let quick = ["Icarus Verilog core", "core proof"];
    let all =
        ["Icarus Verilog core", "Verilator core", "core proof", "Yosys core", "host program on the simulated card"];
    for (extents, checks) in [
        (vec![5, 7], quick.as_slice()),
        (vec![1, 13], &quick),
        (vec![9, 4], &quick),
        (vec![3, 4, 5], &all),
        (vec![3, 7, 3], &quick),
    ] {
        let ledger = core_of(&medians(&extents), checks, |_| {});
        let problems = problems("a_core_gives_the_golden_vectors_under_stalls_and_resets", &ledger);
        assert_eq!(problems, Vec::<String>::new(), "{extents:?}");
    }
}

#[test]
fn faults_of_a_card_are_found() {
    let faults = [
        // Bursts that cross a page.
        ("rtl/mover.v", "beats_left < to_page ? beats_left : to_page", "beats_left"),
        // Beats that are asked for without a place.
        ("rtl/mover.v", "taken + burst <= PLACES", "1'b1"),
        // A burst that begins before its results are there.
        ("rtl/mover.v", "used >= burst", "used != 0"),
        // Results that are said to be there before they are.
        ("rtl/card.v", "!is_reading && !is_writing", "!is_reading"),
    ];
    for (path, from, to) in faults {
        let ledger = core_of(&medians(&[31, 33]), &["host program on the simulated card"], |files| {
            let code = String::from_utf8(files[path].clone()).expect("text");
            assert!(code.contains(from), "{path} lacks {from}");
            files.insert(path.to_owned(), code.replace(from, to).into_bytes());
        });
        for check in ledger {
            if check.state == CheckState::NotRun {
                println!("skipped: faults_of_a_card_are_found: {}", check.found);
            } else {
                assert_eq!(check.state, CheckState::Failed, "{from}: {}", check.found);
            }
        }
    }
}

#[test]
fn faults_of_a_core_are_found() {
    const SIMULATED: &str = "Icarus Verilog core";
    const PROVEN: &str = "core proof";
    let faults = [
        // A border that takes what lies beyond it.
        ("rtl/core.v", "at0_0 <= b0 == 0", "at0_0 <= b0 == 1", SIMULATED),
        // An item that comes while the core waits.
        ("rtl/core.v", "assign s_axis_tready = may && wants", "assign s_axis_tready = wants", SIMULATED),
        // A line that is a step too long.
        ("rtl/stream.v", "PLACES = DELAY - 1", "PLACES = DELAY", SIMULATED),
        // The last results of the last frame wait for ever.
        ("rtl/core.v", "takes || is_home && !is_drained", "takes", SIMULATED),
        // More results under way than the queue has places for.
        ("rtl/stream.v", "lent_then < PLACES", "1'b1", PROVEN),
        ("rtl/stream.v", "lent_then < PLACES", "1'b1", SIMULATED),
        // A result that does not wait for its receiver.
        ("rtl/stream.v", "leaves = m_tvalid && m_tready", "leaves = m_tvalid", PROVEN),
        ("rtl/stream.v", "leaves = m_tvalid && m_tready", "leaves = m_tvalid", SIMULATED),
        // A reset that leaves results of the frame before it on their way.
        ("rtl/stream.v", "      on_way <= 0;\n", "", PROVEN),
    ];
    for (path, from, to, check) in faults {
        let ledger = core_of(&medians(&[5, 7]), &[check], |files| {
            let code = String::from_utf8(files[path].clone()).expect("text");
            assert!(code.contains(from), "{path} lacks {from}");
            files.insert(path.to_owned(), code.replace(from, to).into_bytes());
        });
        for check in ledger {
            if check.state == CheckState::NotRun {
                println!("skipped: faults_of_a_core_are_found: {}", check.found);
            } else {
                assert_eq!(check.state, CheckState::Failed, "{from} as {to}: {}", check.found);
            }
        }
    }
}

#[test]
fn single_precision_holds_bit_by_bit() {
    for (name, text) in [("stencil", STENCIL), ("median", MEDIAN)] {
        let folder = tempfile::tempdir().expect("a folder");
        let files = written(text, folder.path());
        assert!(files.contains_key("rtl_f32/kernel.v") && files.contains_key("xls/kernel.x"), "{name}");
        let mut told = Vec::new();
        let opened = open(folder.path()).expect("a bundle");
        let ledger = verify(&opened, Running::Everything, |progress| told.push(progress.clone()));
        assert_eq!(problems("single_precision_holds_bit_by_bit", &ledger), Vec::<String>::new(), "{name}");
        assert!(ledger.iter().any(|check| check.name == "Icarus Verilog f32"), "{name}");
        let last = told.last().expect("something was told");
        assert!(last.done == last.of && last.of < ledger.len() && last.running.is_empty(), "{last:?}");
    }
}

#[test]
fn wrong_single_precision_fails_its_check() {
    // Rounding ties away from even.
    let (from, to) = ("up = s[23] && (s[22:0] != 0 || lost || s[24]);", "up = s[23];");
    fails("wrong_single_precision_fails_its_check", "Icarus Verilog f32", STENCIL, "rtl_f32/kernel.v", from, to);
}

#[test]
fn xls_gives_the_bits_of_an_interpreter_that_flushes() {
    let test = "xls_gives_the_bits_of_an_interpreter_that_flushes";
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = written(STENCIL, folder.path());
    let python = std::env::var_os("RIDGELINE_XLS_PYTHON").unwrap_or_else(|| "python3".into());
    let said = ridge_handoff::xls::run(Path::new(&python), folder.path());
    let Ok(design) = fs::read(folder.path().join("xls/kernel.v")) else {
        println!("skipped: {test}: {}", said["why"].as_str().unwrap_or("XLS made nothing"));
        return;
    };
    files.insert("xls/kernel.v".to_owned(), design);
    files.insert("xls/plain.v".to_owned(), fs::read(folder.path().join("xls/plain.v")).expect("the code in one stage"));
    let (_, source) = source(STENCIL);
    let text = manifest(&files, &source, None, &json!({ "xls": said }), &[]);
    fs::write(folder.path().join(MANIFEST), text).expect("written");
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    for name in ["Icarus Verilog XLS", "XLS stages proof"] {
        let check = ledger.iter().find(|check| check.name == name).expect("the check");
        if check.state == CheckState::NotRun {
            println!("skipped: {test}: {}", check.found);
        } else {
            assert_eq!(check.state, CheckState::Passed, "{}", check.found);
        }
    }
}

#[test]
fn loops_hold_in_every_language() {
    for (name, text, trips) in [("relaxed", RELAXED, vec![5]), ("nested", NESTED, vec![3, 4])] {
        let folder = tempfile::tempdir().expect("a folder");
        let files = written(text, folder.path());
        let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
        assert_eq!(problems("loops_hold_in_every_language", &ledger), Vec::<String>::new(), "{name}");
        let kernel = String::from_utf8_lossy(&files["hls/kernel.cpp"]).into_owned();
        for trips in trips {
            assert!(kernel.contains(&format!(" < {trips}; ++t")), "{name}: {kernel}");
        }
        // Unrolled, with the counter known at every trip.
        for design in ["rtl/kernel.v", "rtl_f32/kernel.v"] {
            assert!(files.contains_key(design), "{name} has no {design}");
        }
    }
}

#[test]
fn what_nothing_else_reads_is_updated_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(SUMS, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("what_nothing_else_reads_is_updated_in_place", &ledger), Vec::<String>::new());
    let kernel = String::from_utf8_lossy(&files["hls/kernel.cpp"]).into_owned();
    // The array is filled once, before the loop, and written to once in a trip; in NESTED another one reads it.
    assert_eq!(kernel.matches("i < 6; ++i) s").count(), 0, "{kernel}");
    let nested = String::from_utf8_lossy(&made(NESTED).0["hls/kernel.cpp"]).into_owned();
    assert_eq!(nested.matches("i < 8; ++i) s").count(), 2, "{nested}");
}

#[test]
fn what_is_scattered_holds_in_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(SCATTERED, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("what_is_scattered_holds_in_cpp", &ledger), Vec::<String>::new());
    // Places inside the arrays have a set of their own, and the loop adds to its state where it is.
    assert!(files.contains_key("golden/places/strict.out0.bin"));
    let kernel = String::from_utf8_lossy(&files["hls/kernel.cpp"]).into_owned();
    assert_eq!(kernel.matches("[9]").count(), 1, "{kernel}");
}

#[test]
fn updates_add_up_and_those_outside_are_left_out() {
    let files = made(PLACED).0;
    let numbers = |name: &str| -> Vec<f32> {
        let bytes = &files[&format!("golden/random/{name}.bin")];
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect()
    };
    assert_eq!(numbers("strict.out0"), [15.0, 20.0, 32.0]);
    assert_eq!(numbers("strict.out1"), [0.0, 1.0, 2.0, 0.0]);
}

#[test]
fn wrong_scatters_fail_their_check() {
    let test = "wrong_scatters_fail_their_check";
    fails(test, "c++", SCATTERED, "hls/kernel.cpp", "p0 >= 0", "p0 >= 1");
}

#[test]
fn wrong_loops_fail_their_check() {
    fails("wrong_loops_fail_their_check", "c++", RELAXED, "hls/kernel.cpp", " < 5; ++t", " < 4; ++t");
}

#[test]
fn loops_that_data_end_are_refused() {
    for (from, to, expected) in [
        (
            "ROOT %less = pred[] compare(%i, %five), direction=LT",
            "%x = f32[16]{0} get-tuple-element(%p), index=1\n  %one = f32[1]{0} slice(%x), slice={[0:1]}\n  %scalar = f32[] reshape(%one)\n  %most = f32[] constant(9)\n  ROOT %less = pred[] compare(%scalar, %most), direction=LT",
            "`loop` is a loop with a data-dependent trip count; hand over its body with `--op loop`",
        ),
        (
            "%next = s32[] add(%i, %one)",
            "%next = s32[] multiply(%i, %one)",
            "how often `loop` runs takes too long to count; hand over its body by `--op loop`",
        ),
        (
            "%next = s32[] add(%i, %one)",
            "%whole = s32[16]{0} convert(%x)\n  %cut = s32[1]{0} slice(%whole), slice={[0:1]}\n  %next = s32[] reshape(%cut)",
            "`loop` is a loop with a data-dependent trip count; hand over its body with `--op loop`",
        ),
        (
            "tuple(%zero, %x, %x, %pull)",
            "tuple(%x, %zero, %x, %pull)",
            "computation `condition` does not fit what it reads",
        ),
        ("tuple(%next, %moved, %x, %pull)", "tuple(%moved, %next, %x, %pull)", "`loop` does not fit what it reads"),
        ("constant(5)", "constant(-5)", ""),
    ] {
        assert!(RELAXED.contains(from), "{from}");
        let module = HloModule::from_text(&RELAXED.replace(from, to)).expect("HLO");
        let found = lower(&module, module.entry.expect("an entry"));
        match expected {
            // Not even once.
            "" => assert_eq!(found.expect("a program").nodes.len(), 3),
            expected => assert_eq!(found.expect_err(expected).to_string(), expected, "{to}"),
        }
    }
}

#[test]
fn the_picture_of_a_graph_holds_every_operation_and_line() {
    let (files, _) = made(STENCIL);
    let picture = String::from_utf8(files["spec/dataflow.svg"].clone()).expect("text");
    let graph: serde_json::Value = serde_json::from_slice(&files["spec/dataflow.json"]).expect("JSON");
    let count = |key: &str| graph[key].as_array().map_or(0, Vec::len);
    assert_eq!(picture.matches("<g>").count(), count("nodes"));
    assert_eq!(picture.matches("<path").count(), count("edges"));
    // Lines lead down.
    for line in picture.lines().filter(|line| line.starts_with("<path")) {
        let numbers: Vec<f64> = line.split(['M', 'C', ' ', '"']).filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[1] < numbers[7], "{line}");
    }
}

#[test]
fn all_that_is_generated_matches_the_interpreter() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(MIXED, folder.path());
    let why = String::from_utf8_lossy(&files["spec/verilog.txt"]).into_owned();
    assert_eq!(why, "no Verilog, because it has several results\n");
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("all_that_is_generated_matches_the_interpreter", &ledger), Vec::<String>::new());
}

#[test]
fn wrong_code_fails_its_check() {
    fails("wrong_code_fails_its_check", "c++", MEDIAN, "hls/kernel.cpp", "hlo::add(", "hlo::subtract(");
}

#[test]
fn one_flipped_bit_in_any_file_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(MEDIAN, folder.path());
    let all: Vec<String> = files.keys().cloned().chain([MANIFEST.to_owned()]).collect();
    for name in all {
        let path = folder.path().join(&name);
        let bytes = fs::read(&path).expect("read");
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).expect("written");
            assert!(open(folder.path()).is_err(), "bit 0 of byte {at} of {name}");
        }
        fs::write(&path, &bytes).expect("written");
    }
    open(folder.path()).expect("whole again");
}

#[test]
fn hostile_bundles_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    written(MEDIAN, folder.path());
    let said = || open(folder.path()).expect_err("refused").to_string();
    fs::write(folder.path().join("hls/more.h"), "").expect("written");
    assert_eq!(said(), "hls/more.h is in the folder and not in MANIFEST.json");
    fs::remove_file(folder.path().join("hls/more.h")).expect("removed");

    #[cfg(unix)]
    {
        let kernel = folder.path().join("hls/kernel.h");
        let bytes = fs::read(&kernel).expect("read");
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("kernel.h"), &bytes).expect("written");
        fs::remove_file(&kernel).expect("removed");
        std::os::unix::fs::symlink(outside.path().join("kernel.h"), &kernel).expect("linked");
        assert_eq!(said(), "hls/kernel.h is a link, or behind one");
        fs::remove_file(&kernel).expect("removed");
        fs::write(&kernel, bytes).expect("written");
    }

    let (_, source) = source(MEDIAN);
    for (path, expected) in [
        ("../outside", "a path that is not plain"),
        ("/etc/hosts", "a path that is not plain"),
        ("hls/$(x)", "a path that is not plain"),
    ] {
        let files = Files::from([(path.to_owned(), b"x".to_vec())]);
        fs::write(folder.path().join(MANIFEST), manifest(&files, &source, None, &json!({}), &[])).expect("written");
        assert!(said().contains(expected), "{path}: {}", said());
    }
    fs::write(folder.path().join(MANIFEST), "{").expect("written");
    assert!(said().contains("is no JSON"), "{}", said());
    fs::remove_file(folder.path().join(MANIFEST)).expect("removed");
    assert!(said().starts_with("MANIFEST.json: "), "{}", said());
}

#[test]
fn what_cannot_be_specified_is_refused_by_name() {
    let module = |line: &str| {
        format!("HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {{\n  %x = f32[8]{{0}} parameter(0)\n  {line}\n}}\n")
    };
    for (line, expected) in [
        (
            "ROOT %y = f32[8]{0} custom-call(%x), custom_call_target=\"__gpu$xla.gpu.triton\"",
            "`y` is an opaque custom call of `__gpu$xla.gpu.triton`",
        ),
        ("ROOT %y = f32[<=8]{0} negate(%x)", "`y` has a dynamic shape"),
        ("ROOT %y = bf16[8]{0} convert(%x)", "`y` is of type bf16"),
        (
            "ROOT %y = f32[8]{0} all-reduce(%x), to_apply=%main",
            "`y` is an operation that the generator does not know, `all-reduce`",
        ),
        ("ROOT %y = f32[9]{0} negate(%x)", "`y` does not fit what it reads"),
        ("ROOT %y = f32[8]{0} slice(%x), slice={[4:12]}", "`y` does not fit what it reads"),
        ("ROOT %y = f32[8]{0} transpose(%x), dimensions={3}", "`y` names a dimension that is not there"),
        ("ROOT %y = f32[9999999999]{0} broadcast(%x), dimensions={0}", "`y` has more than 67108864 elements"),
    ] {
        let module = HloModule::from_text(&module(line)).expect("HLO");
        let refusal = lower(&module, module.entry.expect("an entry")).expect_err(line);
        assert_eq!(refusal.to_string(), expected, "{line}");
    }
}
