//! Broken input: cut, flipped and inflated modules give an error or notes, never a panic, never much memory.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use std::path::Path;

use ridge_hlo::HloModule;
use ridge_hlo::cost::ModuleCosts;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hlo").join(name)).expect("a fixture")
}

/// Uses everything that walks a module, so that a bad reference would show.
fn walk(module: &HloModule) {
    for id in module.instruction_ids() {
        module.hero(id);
        module.category(id);
        module.source_in_fusion(id);
        module.op_name_in_fusion(id);
        let instruction = module.instruction(id);
        let _ = (instruction.shape.byte_size(), instruction.known_trip_count(), instruction.backend_config.json());
        assert!(instruction.operands.iter().all(|operand| (operand.0 as usize) < module.instructions.len()));
        assert!(instruction.called.iter().all(|called| (called.0 as usize) < module.computations.len()));
        module.kernel_candidates(&instruction.name.replace('.', "_"));
    }
    let costs = ModuleCosts::new(module);
    assert!(costs.total().work.flops().is_finite() && costs.total().bytes_accessed.total().is_finite());
    let printed = module.to_text().len() + module.to_dot(None).len();
    assert!(printed < 50_000_000, "{printed} bytes printed");
    if let Some(buffers) = &module.buffers {
        buffers.replay_peak();
    }
}

fn try_proto(bytes: &[u8]) -> usize {
    HloModule::from_proto(bytes).map_or(0, |module| {
        walk(&module);
        module.instructions.len()
    })
}

fn try_text(text: &str) -> usize {
    HloModule::from_text(text).map_or(0, |module| {
        walk(&module);
        module.instructions.len()
    })
}

/// Numbers that look random and are the same every time.
fn scrambled(seed: usize) -> usize {
    let mixed = (seed as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20) as usize
}

const FIXTURES: [&str; 3] = ["loop.after", "exchange.before", "linalg.after"];

#[test]
fn cut_protos_keep_what_came_before_the_cut() {
    for name in FIXTURES {
        let bytes = fixture(&format!("{name}.hlo.pb"));
        let whole = try_proto(&bytes);
        let found: Vec<usize> = (0..200).map(|step| try_proto(&bytes[..bytes.len() * step / 200])).collect();
        assert!(found.iter().all(|&count| count <= whole));
        assert!(
            found[199] * 10 >= whole * 9,
            "{name}: {} of {whole} instructions after a cut near the end",
            found[199]
        );
        let noted = HloModule::from_proto(&bytes[..bytes.len() / 2]).expect("half a module is one");
        assert!(!noted.notes.is_empty() && !noted.instructions.is_empty(), "{name}");
    }
}

#[test]
fn cut_texts_keep_what_came_before_the_cut() {
    for name in FIXTURES {
        let text = String::from_utf8(fixture(&format!("{name}.txt"))).expect("text");
        let whole = try_text(&text);
        for step in 0..200 {
            let mut at = text.len() * step / 200;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            assert!(try_text(&text[..at]) <= whole);
        }
        let noted = HloModule::from_text(&text[..text.len() / 2]).expect("half a module is one");
        assert!(!noted.notes.is_empty() && !noted.instructions.is_empty(), "{name}");
    }
}

#[test]
fn flipped_bits_panic_nowhere() {
    for name in FIXTURES {
        let bytes = fixture(&format!("{name}.hlo.pb"));
        let text = fixture(&format!("{name}.txt"));
        for step in 0..400 {
            for (original, is_proto) in [(&bytes, true), (&text, false)] {
                let mut broken = original.clone();
                for flip in 0..=step % 4 {
                    let at = scrambled(step * 8 + flip) % broken.len();
                    broken[at] ^= 1 << (scrambled(at + step) % 8);
                }
                if is_proto {
                    try_proto(&broken);
                } else {
                    try_text(&String::from_utf8_lossy(&broken));
                }
            }
        }
    }
}

#[test]
fn inflated_lengths_allocate_nothing() {
    for name in FIXTURES {
        let bytes = fixture(&format!("{name}.hlo.pb"));
        for step in 0..200 {
            let mut broken = bytes.clone();
            let at = scrambled(step) % broken.len();
            // A varint of two to five bytes that says far more than there is.
            let inflated = [0xff, 0xff, 0xff, 0xff, 0x07];
            broken.splice(at..at + 1, inflated[step % 4..].iter().copied());
            try_proto(&broken);
        }
    }
    // A window, a layout and a literal of billions of elements.
    for text in [
        "HloModule m\nENTRY %e () -> f32[] {\n  %a = f32[4294967296,4294967296,9]{2,1,0} constant({...})\n}\n",
        "HloModule m\nENTRY %e () -> f32[] {\n  %a = f32[2] convolution(%a, %a), window={size=9999999999x9}, dim_labels=b9f_9io->b9f\n}\n",
        "HloModule m\nStackFrames\n4294967295 {file_location_id=1 parent_frame_id=1}\n",
    ] {
        try_text(text);
    }
}

#[test]
fn nesting_is_bounded() {
    let deep_shape = format!(
        "HloModule m\nENTRY %e () -> f32[] {{\n  %a = {}f32[]{} tuple()\n}}\n",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    let deep_value =
        format!("HloModule m\nENTRY %e () -> f32[] {{\n  %a = f32[] add(), x={}\n}}\n", "{".repeat(100_000));
    let deep_json = format!(
        "HloModule m\nENTRY %e () -> f32[] {{\n  %a = f32[] while(), backend_config={{\"known_trip_count\":{}{}}}\n}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    for text in [deep_shape, deep_value, deep_json] {
        try_text(&text);
    }
    // A shape whose tuple holds a shape whose tuple…: field 4 of ShapeProto.
    let mut shape = vec![0x10, 0x0d];
    for _ in 0..2000 {
        shape = field(4, &shape);
    }
    let instruction = [field(1, b"a"), field(2, b"tuple"), field(3, &shape)].concat();
    let computation = [field(1, b"e"), field(2, &instruction)].concat();
    let module =
        HloModule::from_proto(&field(1, &[field(1, b"m"), field(3, &computation)].concat())).expect("a module");
    walk(&module);
    assert!(module.notes[0].what.contains("nested"), "{:?}", module.notes);
}

#[test]
fn what_is_no_module_is_an_error_that_says_what_was_found() {
    let error = |bytes: &[u8]| HloModule::from_proto(bytes).expect_err("no module").to_string();
    assert_eq!(
        error(b""),
        "not an HLO proto: expected an HLO module with a name or a computation, found the end at byte 0"
    );
    assert_eq!(
        error(b"\x1f\x8b\x08\x00"),
        "not an HLO proto: expected an HLO module with a name or a computation, found expected wire type 0, 1, 2 or 5 at byte 0"
    );
    let error = |text: &str| HloModule::from_text(text).expect_err("no module").to_string();
    assert_eq!(error(" \n"), "not HLO text: expected `HloModule` or a computation, found the end at byte 0");
    assert_eq!(
        error("{\"a\": 1}"),
        "not HLO text: expected `HloModule` or a computation, found `{\"a\": 1}` at byte 0"
    );
}

#[test]
fn many_unclosed_brackets_are_read_in_linear_time() {
    let text = format!("HloModule m\nENTRY %e () -> f32[] {{\n{}", "  %a = f32[] add(((\n".repeat(50_000));
    let started = std::time::Instant::now();
    try_text(&text);
    assert!(started.elapsed().as_secs() < 20, "quadratic: {:?}", started.elapsed());
}

/// A length-delimited field.
fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![(number << 3 | 2) as u8];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
    out
}
