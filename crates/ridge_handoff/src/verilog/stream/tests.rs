//! The walk of cores: at every place of a result each tap takes what the program has there.

use super::*;
use crate::cone::{Reals, window};
use crate::lower;
use ridge_hlo::HloModule;

/// A program of one computation.
fn program(body: &str) -> Program {
    let module = HloModule::from_text(&format!("HloModule walked\n\n{body}")).expect("HLO");
    lower(&module, module.entry.expect("an entry")).expect("a program")
}

/// Differences of each element and its neighbors, with so much padding around.
fn padded(extents: [usize; 2], padding: usize) -> String {
    let [h, w] = extents;
    let (tall, wide) = (h + 2 * padding, w + 2 * padding);
    let (rows, columns) = (tall - 2, wide - 2);
    format!(
        "ENTRY %main (x: f32[{h},{w}]) -> f32[{rows},{columns}] {{
  %x = f32[{h},{w}]{{1,0}} parameter(0)
  %edge = f32[] constant(0.25)
  %p = f32[{tall},{wide}]{{1,0}} pad(%x, %edge), padding={padding}_{padding}x{padding}_{padding}
  %a = f32[{rows},{columns}]{{1,0}} slice(%p), slice={{[0:{rows}], [0:{columns}]}}
  %b = f32[{rows},{columns}]{{1,0}} slice(%p), slice={{[1:{}], [1:{}]}}
  %c = f32[{rows},{columns}]{{1,0}} slice(%p), slice={{[2:{tall}], [1:{}]}}
  %d = f32[{rows},{columns}]{{1,0}} slice(%p), slice={{[1:{}], [2:{wide}]}}
  %ab = f32[{rows},{columns}]{{1,0}} subtract(%a, %b)
  %cd = f32[{rows},{columns}]{{1,0}} maximum(%c, %d)
  ROOT %y = f32[{rows},{columns}]{{1,0}} subtract(%ab, %cd)
}}
",
        rows + 1,
        columns + 1,
        columns + 1,
        rows + 1,
    )
}

/// Neighbors on a ring.
const WRAPPED: &str = "ENTRY %main (x: f32[3,7]) -> f32[3,7] {
  %x = f32[3,7]{1,0} parameter(0)
  %last = f32[3,1]{1,0} slice(%x), slice={[0:3], [6:7]}
  %others = f32[3,6]{1,0} slice(%x), slice={[0:3], [0:6]}
  %turned = f32[3,7]{1,0} concatenate(%last, %others), dimensions={1}
  %top = f32[1,7]{1,0} slice(%x), slice={[0:1], [0:7]}
  %below = f32[2,7]{1,0} slice(%x), slice={[1:3], [0:7]}
  %raised = f32[3,7]{1,0} concatenate(%below, %top), dimensions={0}
  ROOT %y = f32[3,7]{1,0} subtract(%turned, %raised)
}
";

/// Two images, every second row of them.
const STRIDED: &str = "ENTRY %main (x: f32[7,5], k: s32[7,5]) -> f32[3,4] {
  %x = f32[7,5]{1,0} parameter(0)
  %k = s32[7,5]{1,0} parameter(1)
  %a = f32[3,4]{1,0} slice(%x), slice={[0:6:2], [0:4]}
  %b = s32[3,4]{1,0} slice(%k), slice={[1:7:2], [1:5]}
  %c = f32[3,4]{1,0} convert(%b)
  ROOT %y = f32[3,4]{1,0} subtract(%a, %c)
}
";

fn walked(text: &str) -> Result<Stream, Refusal> {
    let program = program(text);
    let code = window(&program, Reals::Fixed)?;
    let places = Places::new(&program, Reals::Fixed, &code.cone)?;
    let made = stream(&program, &code, &places, |_| 16)?;
    follow(&program, &places, &made);
    Ok(made)
}

/// Walks over all steps of a frame as the core does, and holds each tap of each result against the program.
fn follow(program: &Program, places: &Places<'_>, made: &Stream) {
    let out = &program.nodes[program.outputs[0]].dims;
    let steps: Vec<usize> = made.dims.iter().map(Along::steps).collect();
    let items: Vec<usize> = made.dims.iter().map(|one| one.items).collect();
    // The item that comes at each step; the walk goes on without one where the result is larger than the input.
    let (mut came, mut taken) = (Vec::new(), 0);
    for step in 0..made.steps() {
        let place = index_of(step, &steps);
        let is_item = place.iter().zip(&items).all(|(at, extent)| at < extent);
        came.push(is_item.then_some(taken));
        taken += usize::from(is_item);
    }
    assert_eq!(taken, made.items());
    let mut result = 0;
    for step in 0..made.steps() {
        let base = index_of(step, &steps);
        let is_result = base.iter().zip(&made.dims).all(|(at, one)| *at <= one.last() && at % one.stride == 0);
        if !is_result {
            continue;
        }
        let kind: Vec<usize> = base.iter().zip(&made.dims).map(|(at, one)| one.kind(at / one.stride)).collect();
        let expected = places.taps(&index_of(result, out)).expect("the code of the middle");
        for (tap, expected) in made.taps.iter().zip(expected) {
            let Some(expected) = expected else { continue };
            let other = tap.iter().skip(1).find(|(_, kinds)| kinds.contains(&kind));
            let found = match &other.or(tap.first()).expect("a tap takes something").0 {
                Taken::Item(input, off) => {
                    let at = (step as i64 + off) as usize;
                    assert!(at <= step + made.lag, "an item that has not come");
                    Bound::Element(*input, came[at].expect("an item"))
                }
                Taken::Real(bits) => Bound::Real(*bits),
                Taken::Whole(value) => Bound::Whole(*value),
            };
            assert_eq!(found, expected, "result {result}");
        }
        result += 1;
    }
    assert_eq!(result, made.results());
}

#[test]
fn every_tap_takes_what_the_program_has_there() {
    for extents in [[3, 5], [4, 4], [3, 3], [7, 11]] {
        for padding in [1, 2, 3] {
            let made = walked(&padded(extents, padding)).expect("a stream");
            assert_eq!(made.results(), (extents[0] + 2 * padding - 2) * (extents[1] + 2 * padding - 2));
        }
    }
    assert_eq!(walked(&padded([1, 9], 1)).map(|made| made.results()), Ok(9));
    assert_eq!(walked(&padded([6, 9], 0)).map(|made| made.results()), Ok(28));
    let wrapped = walked(WRAPPED).expect("a stream");
    assert_eq!((wrapped.steps(), wrapped.lag), (21, 7));
    let strided = walked(STRIDED).expect("a stream");
    assert_eq!((strided.inputs.as_slice(), strided.results()), ([0, 1].as_slice(), 12));
}

#[test]
fn what_is_no_stream_of_windows_is_refused() {
    let body = |inside: &str| {
        format!(
            "ENTRY %main (x: f32[4,6], z: f32[6]) -> f32[6,4] {{\n  %x = f32[4,6]{{1,0}} parameter(0)\n  %z = f32[6]{{0}} parameter(1)\n{inside}}}\n"
        )
    };
    for (text, why) in [
        // Where the result is smaller than the window its middle lies at a border.
        (padded([2, 3], 1), "the code of its element [0, 1] differs from its inner code"),
        (
            body("  ROOT %y = f32[6,4]{1,0} transpose(%x), dimensions={1,0}\n"),
            "its result is in another order than its input",
        ),
        (body("  ROOT %y = f32[6,4]{1,0} broadcast(%z), dimensions={0}\n"), "its result is repeated along dimension 1"),
        (
            body(
                "  %t = f32[6,4]{1,0} transpose(%x), dimensions={1,0}\n  %b = f32[6,4]{1,0} broadcast(%z), dimensions={0}\n  ROOT %y = f32[6,4]{1,0} add(%t, %b)\n",
            ),
            "its inputs have different extents, so their items do not come together",
        ),
        (
            body(
                "  %r = f32[4,6]{1,0} reverse(%x), dimensions={0}\n  ROOT %y = f32[6,4]{1,0} transpose(%r), dimensions={1,0}\n",
            ),
            "dimension 1 of its result does not follow the order of its input",
        ),
    ] {
        assert_eq!(walked(&text).map(|_| ()), Err(Refusal(why.to_owned())));
    }
}
