//! JSON documents: their text, and that they keep to the schema pages in `docs/json`.

mod common;
mod schema;

use common::full_report;
use expect_test::expect;
use ridge_report::{Report, json};
use serde_json::Value;
use std::path::Path;

fn schema_page(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("the schema page is JSON")
}

#[test]
fn stats_text() {
    let report = Report { sections: full_report().sections.split_off(1), ..full_report() };
    expect![[r#"
        {
          "schema": "ridgeline.stats.v1",
          "notes": [
            {"severity":"info","message":"clocks of 2 hosts were aligned by their first collective","file":null,"offset":null,"count":1},
            {"severity":"partial","message":"37 events carry no operation","file":null,"offset":null,"count":1},
            {"severity":"lost","message":"events could not be read","file":"host.xplane.pb","offset":1204,"count":3}
          ],
          "overview": [
            {
              "title": "Versions",
              "facts": [
                {"key":"jax","title":"jax","value":"0.10.2","unit":"text","share":null,"definition":"jax of the capture","basis":null},
                {"key":"xla_flags","title":"XLA_FLAGS","value":"--xla_gpu_enable_command_buffer= --xla_dump_to=/tmp/dump --xla_gpu_autotune_level=4 --xla_dump_hlo_as_text","unit":"text","share":null,"definition":"XLA_FLAGS of the capture","basis":null}
              ]
            }
          ],
          "tables": [
            {
              "name": "op",
              "title": "Operations",
              "columns": [
                {"key":"op","title":"Operation","unit":"text","definition":"Name of the HLO instruction","basis":null},
                {"key":"total_ns","title":"Total","unit":"ns","definition":"Sum of durations","basis":null},
                {"key":"share","title":"Share","unit":"share","definition":"Total as part of device time","basis":null},
                {"key":"count","title":"Count","unit":"count","definition":"Executions","basis":null},
                {"key":"category","title":"Category","unit":"text","definition":"Kind of work","basis":null},
                {"key":"median_ns","title":"Median","unit":"ns","definition":"Median duration","basis":null},
                {"key":"bytes","title":"Bytes","unit":"bytes","definition":"Bytes touched","basis":null},
                {"key":"rate","title":"Bandwidth","unit":"bytes/s","definition":"Bytes per second","basis":null},
                {"key":"async","title":"Async","unit":"flag","definition":"Runs beside others","basis":null}
              ],
              "rows": [
                {"op":"jit(recon)/jit(main)/while/body/cone_beam_projector/scatter-add/very_long_fusion_name.412","total_ns":14344140,"share":0.92,"count":40,"category":"fusion","median_ns":358603,"bytes":1073741824,"rate":3350000000000.0,"async":true},
                {"op":"三角形の投影 größe","total_ns":912000,"share":0.059,"count":1204,"category":"loop fusion","median_ns":757,"bytes":9007199254740993,"rate":null,"async":false},
                {"op":"evil\u001b[2J\nname","total_ns":999,"share":0.000064,"count":1,"category":null,"median_ns":999,"bytes":null,"rate":null,"async":null}
              ],
              "rows_total": 4,
              "footnotes": ["3 of 4 rows shown"]
            },
            {
              "name": "kernel",
              "title": "Kernels",
              "columns": [
                {"key":"kernel","title":"Kernel","unit":"text","definition":"Name of the kernel","basis":null},
                {"key":"total_ns","title":"Total","unit":"ns","definition":"Sum of durations","basis":null}
              ],
              "rows": [],
              "rows_total": 0,
              "footnotes": []
            }
          ]
        }
    "#]].assert_eq(&json::stats(&report));
}

#[test]
fn stats_keep_to_their_schema() {
    let page = schema_page("stats.v1.schema.json");
    for report in [full_report(), Report::EMPTY] {
        let document: Value = serde_json::from_str(&json::stats(&report)).expect("our JSON");
        assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
    }
}

#[test]
fn info_keeps_to_its_schema() {
    let page = schema_page("info.v1.schema.json");
    let document: Value = serde_json::from_str(&json::info(&full_report())).expect("our JSON");
    assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
}

#[test]
fn the_check_finds_what_is_wrong() {
    let page = schema_page("stats.v1.schema.json");
    let mut document: Value = serde_json::from_str(&json::stats(&full_report())).expect("our JSON");
    document["notes"][0]["severity"] = Value::from("grave");
    document["tables"][0]["rows_total"] = Value::from(-1.5);
    document["tables"][0].as_object_mut().expect("a table").remove("columns");
    document["extra"] = Value::Null;
    expect![[r#"
        /notes/0/severity: expected one of ["lost","partial","info"], found "grave"
        /tables/0: expected the key columns
        /tables/0/rows_total: expected "integer", found -1.5
        /tables/0/rows_total: expected at least 0, found -1.5
        /extra: unexpected key"#]]
    .assert_eq(&schema::problems(&page, &document).join("\n"));
}

#[test]
fn whole_numbers_are_exact() {
    let text = json::stats(&full_report());
    assert!(text.contains("9007199254740993"), "2^53 + 1 must survive");
}
