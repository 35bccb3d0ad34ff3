//! Notations of several years of XLA, and what is made of them.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use expect_test::expect;
use ridge_hlo::{HloModule, ReplicaGroups};

fn check(text: &str, expected: expect_test::Expect) -> HloModule {
    let module = HloModule::from_text(text).expect("text of a module");
    let notes: String = module.notes.iter().map(|note| format!("note at {}: {}\n", note.offset, note.what)).collect();
    expected.assert_eq(&(module.to_text() + &notes));
    module
}

#[test]
fn old_text_gives_operand_shapes_and_no_percent_signs() {
    let module = check(
        r#"HloModule jit_f.7

add_f32 {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT sum = f32[] add(f32[] x, f32[] y)
}

ENTRY main.6 {
  // A comment, and a constant over several lines.
  c = f32[2,2]{1,0} constant({
    { 1, -inf },
    { nan, 1.5e-05 }
  })
  zero = f32[] constant(0)
  p = pred[] parameter(0)
  r = f32[2]{0} reduce(f32[2,2]{1,0} c, f32[] zero), dimensions={1}, to_apply=add_f32, metadata={op_type="sum" op_name="jit(f)/sum" source_file="a \"b\".py" source_line=7}
  t = (f32[2]{0}, /*index=1*/f32[]) tuple(f32[2]{0} r, /*index=1*/f32[] zero)
  ROOT g = f32[2]{0} get-tuple-element((f32[2]{0}, f32[]) t), index=0, future_attribute={x=[1,2], y="}"}
}
"#,
        expect![[r#"
            HloModule jit_f.7

            %add_f32 (x: f32[], y: f32[]) -> f32[] {
              %x = f32[] parameter(0)
              %y = f32[] parameter(1)
              ROOT %sum = f32[] add(%x, %y)
            }

            ENTRY %main.6 (p: pred[]) -> f32[2] {
              %c = f32[2,2]{1,0} constant({1, -inf, nan, 0.000015})
              %zero = f32[] constant(0)
              %p = pred[] parameter(0)
              %r = f32[2]{0} reduce(%c, %zero), dimensions={1}, to_apply=%add_f32, metadata={op_type="sum" op_name="jit(f)/sum" source_file="a \"b\".py" source_line=7}
              %t = (f32[2]{0}, f32[]) tuple(%r, %zero)
              ROOT %g = f32[2]{0} get-tuple-element(%t), index=0, future_attribute={x=[1,2], y="}"}
            }
        "#]],
    );
    let reduce = module.instruction_named("r").expect("it is there");
    assert_eq!(module.source_stack(reduce)[0].to_string(), "a \"b\".py:7");
}

#[test]
fn collectives_fusions_and_loops() {
    let module = check(
        r#"HloModule jit_g, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {2}, must-alias) }, buffer_donor={ (2, {0,1}) }, num_partitions=8

%fused (p: bf16[8,4]) -> bf16[4,8] {
  %p = bf16[8,4]{1,0:T(8,128)(2,1)} parameter(0)
  %t = bf16[4,8]{1,0} transpose(%p), dimensions={1,0}, metadata={op_name="jit(g)/transpose" source_file="g.py" source_line=3}
  %n = bf16[4,8]{1,0} negate(%t)
  ROOT %b = bf16[4,8]{1,0} bitcast(%n)
}

%body (s: (s32[], bf16[8,4])) -> (s32[], bf16[8,4]) {
  ROOT %s = (s32[], bf16[8,4]{1,0}) parameter(0)
}

%cond (s.1: (s32[], bf16[8,4])) -> pred[] {
  %s.1 = (s32[], bf16[8,4]{1,0}) parameter(0)
  ROOT %true = pred[] constant(true)
}

ENTRY %main (x: bf16[8,4], s.2: (s32[], bf16[8,4])) -> bf16[4,8] {
  %x = bf16[8,4]{1,0} parameter(0)
  %s.2 = (s32[], bf16[8,4]{1,0}) parameter(1)
  %w = (s32[], bf16[8,4]{1,0}) while(%s.2), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"12"}}
  %ar = bf16[8,4]{1,0} all-reduce-start(%x), channel_id=3, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, to_apply=%cond, control-predecessors={%w}
  ROOT %input_transpose_fusion.1 = bf16[4,8]{1,0} fusion(%ar), kind=kInput, calls=%fused
}, execution_thread="main"
"#,
        expect![[r#"
            HloModule jit_g, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {2}, must-alias) }, buffer_donor={ (2, {0,1}) }, num_partitions=8

            %fused (p: bf16[8,4]) -> bf16[4,8] {
              %p = bf16[8,4]{1,0:T(8,128)(2,1)} parameter(0)
              %t = bf16[4,8]{1,0} transpose(%p), dimensions={1,0}, metadata={op_name="jit(g)/transpose" source_file="g.py" source_line=3}
              %n = bf16[4,8]{1,0} negate(%t)
              ROOT %b = bf16[4,8]{1,0} bitcast(%n)
            }

            %body (s: (s32[], bf16[8,4])) -> (s32[], bf16[8,4]) {
              ROOT %s = (s32[], bf16[8,4]{1,0}) parameter(0)
            }

            %cond (s.1: (s32[], bf16[8,4])) -> pred[] {
              %s.1 = (s32[], bf16[8,4]{1,0}) parameter(0)
              ROOT %true = pred[] constant(true)
            }

            ENTRY %main (x: bf16[8,4], s.2: (s32[], bf16[8,4])) -> bf16[4,8] {
              %x = bf16[8,4]{1,0} parameter(0)
              %s.2 = (s32[], bf16[8,4]{1,0}) parameter(1)
              %w = (s32[], bf16[8,4]{1,0}) while(%s.2), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"12"}}
              %ar = bf16[8,4]{1,0} all-reduce-start(%x), channel_id=3, to_apply=%cond, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, control-predecessors={%w}
              ROOT %input_transpose_fusion.1 = bf16[4,8]{1,0} fusion(%ar), kind=kInput, calls=%fused
            }
        "#]],
    );
    let named = |name: &str| module.instruction_named(name).expect("it is there");
    let fusion = named("%input_transpose_fusion.1");
    assert_eq!(module.kernel_instruction("input_transpose_fusion_1.kd"), Some(fusion));
    assert_eq!(module.instruction(module.hero(fusion)).name, "t");
    assert_eq!(module.source_in_fusion(fusion)[0].to_string(), "g.py:3");
    assert_eq!(module.op_name_in_fusion(fusion), "jit(g)/transpose");
    assert_eq!((&*module.category(fusion), &*module.category(named("ar"))), ("input fusion", "all-reduce"));
    assert_eq!(module.instruction(named("w")).known_trip_count(), Some(12));
    let groups = &module.instruction(named("ar")).attributes().replica_groups;
    assert_eq!(groups.group_size(), Some(4));
    assert!(matches!(groups, ReplicaGroups::Iota { groups: 2, .. }));
    assert_eq!(module.computation(module.computation_named("body").expect("it is there")).callers, [named("w")]);
}

#[test]
fn a_line_that_makes_no_sense_costs_that_line() {
    check(
        "HloModule m\n\nENTRY %e (a: f32[2]) -> f32[2] {\n  %a = f32[2]{0} parameter(0)\n  %? what\n  %b = q9[2] negate(%a)\n  %c = f32[2]{0} negate(%gone, %a), calls=%nowhere\n  ROOT %d = f32[2]{0} add(%a, %c) metadata\n}\nstray\n",
        expect![[r#"
            HloModule m

            ENTRY %e (a: f32[2]) -> f32[2] {
              %a = f32[2]{0} parameter(0)
              %c = f32[2]{0} negate(%a)
              ROOT %d = f32[2]{0} add(%a, %c)
            }
            note at 78: expected an instruction, found `%? what`
            note at 88: expected an instruction, found `%b = q9[2] negate(%a)`
            note at 195: expected `,` and an attribute, found `metadata`
            note at 13: 1 operands of this computation lead to nothing and were dropped; the first: gone
            note at 206: expected a computation, found `stray`
            note at 153: expected a computation, found no `nowhere`
        "#]],
    );
}

#[test]
fn a_bare_module_reads_like_the_proto_around_it() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hlo/loop.after.hlo.pb");
    let bytes = std::fs::read(path).expect("a fixture");
    let inner = ridge_hlo::wire::Fields::new(&bytes)
        .filter_map(Result::ok)
        .find_map(|(number, value)| (number == 1).then(|| value.bytes()).flatten())
        .expect("an HloProto holds a module");
    let (bare, whole) = (HloModule::from_proto(inner), HloModule::from_proto(&bytes));
    let (bare, whole) = (bare.expect("a bare module"), whole.expect("a whole one"));
    assert_eq!(bare.to_text(), whole.to_text());
    assert!(bare.buffers.is_none() && whole.buffers.is_some());
}

#[test]
fn dot_text_is_escaped() {
    let module = HloModule::from_text(
        "HloModule m\n\nENTRY %e (a: f32[2]) -> f32[2] {\n  %a = f32[2]{0} parameter(0)\n  ROOT %n = f32[2]{0} negate(%a), metadata={op_name=\"f/\\\"q\\\"\\\\\"}\n}\n",
    )
    .expect("text of a module");
    expect![[r#"
        digraph "m" {
          rankdir=TB;
          node [shape=box, style=filled, fillcolor=white, fontname="sans-serif"];
          subgraph cluster_0 {
            label="ENTRY e";
            i0 [label="a\nparameter f32[2]{0}", fillcolor=gray90];
            i1 [label="n\nnegate f32[2]{0}\nf/\"q\"\\", fillcolor=white, penwidth=2];
          }
          i0 -> i1;
        }
    "#]]
    .assert_eq(&module.to_dot(module.entry));
}
