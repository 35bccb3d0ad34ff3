//! `ridgeline mcp` as an agent uses it: a client that talks over standard input and output and knows nothing but the tools.

#![cfg(feature = "mcp")]

use expect_test::expect;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A conversation with the server.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn start() -> Client {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut server = Command::new(env!("CARGO_BIN_EXE_ridgeline"))
            .arg("mcp")
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = server.stdin.take().expect("a pipe");
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut client = Client { server, input, output, asked: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let welcome = client.ask("initialize", hello);
        assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the server reads");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).expect("a line of JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.say(&request.to_string());
        let answer = self.hear();
        assert_eq!(answer["id"], self.asked);
        answer
    }

    fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().expect("text").to_owned();
        (text, answer["result"]["isError"] == true)
    }

    /// The capture's id.
    fn open(&mut self, path: &str) -> (String, usize) {
        let (text, failed) = self.call("open", json!({ "path": path }));
        assert!(!failed, "{text}");
        let id = text.lines().next().and_then(|line| line.strip_prefix("id: ")).expect("an id");
        (id.to_owned(), text.chars().count())
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.server.wait().expect("it ends").success());
    }
}

/// What is asked, of which capture, with which tool, and the words before the line that answers it.
struct Asked {
    question: &'static str,
    capture: &'static str,
    tool: &'static str,
    with: Value,
    line: &'static str,
}

fn questions() -> [Asked; 10] {
    let asked = |question, capture, tool, with, line| Asked { question, capture, tool, with, line };
    [
        asked(
            "What holds this inference back?",
            "real/kineto/h100_qwen15_0.5b_infer.json.gz",
            "findings",
            json!({}),
            "1. ",
        ),
        asked(
            "How much can be saved where the loader is slow?",
            "real/torch_cpu/mlp_loader.json.gz",
            "findings",
            json!({ "rules": ["data-loading"] }),
            "   saves:",
        ),
        asked(
            "Which GPUs were used, and was anything lost?",
            "real/nsys/h100_2gpu.sqlite",
            "open",
            json!({ "path": "fixtures/real/nsys/h100_2gpu.sqlite" }),
            "devices:",
        ),
        asked(
            "Which kernel that is no copy took longest?",
            "real/xplane/nvidia_like.xplane.pb",
            "table",
            json!({ "view": "kernel", "top": 1, "filter": ["kernel!=MemcpyH2D"], "columns": ["kernel", "self_ns", "events"] }),
            "nvjet",
        ),
        asked(
            "Is the largest matrix product bound by compute or by memory?",
            "real/xplane/mi300_gemm.xplane.pb",
            "table",
            json!({ "view": "roofline/op", "top": 1, "columns": ["op", "bound", "headroom"] }),
            "custom-call",
        ),
        asked(
            "Which operator of PyTorch took most time of its own?",
            "real/torch_cpu/cnn.json.gz",
            "table",
            json!({ "view": "operator", "sort": "self_cpu_ns", "top": 1, "columns": ["operator", "self_cpu_ns", "calls"] }),
            "aten",
        ),
        asked(
            "How much memory was in use at most?",
            "torch-snapshot/train_step.pickle",
            "table",
            json!({ "view": "memory/allocator", "columns": ["allocator", "peak_bytes"] }),
            "cuda",
        ),
        asked(
            "Which line of the program took most time?",
            "real/kineto/cpu_mlp_3steps.json.gz",
            "source",
            json!({ "lines": "5-5" }),
            "cpuprof.py:",
        ),
        asked(
            "What answers the questions that this capture leaves open?",
            "xplane/tpu_host_offload.xplane.pb",
            "next",
            json!({}),
            "  to find out: ridgeline bench",
        ),
        asked(
            "Would it help if all work were twice as fast?",
            "chrome/torch_mlp.json",
            "what_if",
            json!({ "edits": [{ "change": "faster", "name": "*", "times": 2 }] }),
            "  Saves:",
        ),
    ]
}

#[test]
fn ten_questions_of_ten_captures_are_answered_by_the_tools_alone() {
    let mut client = Client::start();
    let mut said = String::new();
    let mut total = 0;
    for Asked { question, capture, tool, with, line } in questions() {
        let (id, opening) = client.open(&format!("fixtures/{capture}"));
        let mut with = with;
        if tool != "open" {
            with["id"] = json!(id);
        }
        let (text, failed) = client.call(tool, with);
        assert!(!failed, "{question}: {text}");
        let answer = text.lines().find(|found| found.starts_with(line)).unwrap_or_else(|| panic!("{question}\n{text}"));
        let characters = opening + text.chars().count();
        assert!(characters <= 2 * 8_000, "{question}");
        total += characters;
        said.push_str(&format!("{question}\n  {}\n  {characters} characters\n", answer.trim().replace('\t', " ")));
    }
    said.push_str(&format!("{total} characters in all\n"));
    client.end();
    expect![[r#"
        What holds this inference back?
          1. warning[unfused-eager] 58% of the time goes to unfused elementwise, copy and reduction kernels, run operator by operator
          4072 characters
        How much can be saved where the loader is slow?
          saves: 4.6 ms to 22 ms (its share of the time; blind: 1 of 1 right, 1.1 to 1.1) (modelled)
          2555 characters
        Which GPUs were used, and was anything lost?
          devices: /device:GPU:0, /device:GPU:1
          6062 characters
        Which kernel that is no copy took longest?
          nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT 400000 8
          2106 characters
        Is the largest matrix product bound by compute or by memory?
          custom-call.1 compute 1.45305
          2631 characters
        Which operator of PyTorch took most time of its own?
          aten::convolution_backward 46354372 12
          2021 characters
        How much memory was in use at most?
          cuda:0 32506156
          642 characters
        Which line of the program took most time?
          cpuprof.py: 33.6 ms of 33.6 ms of all device time (measured); idle 2.55 ms (measured)
          2169 characters
        What answers the questions that this capture leaves open?
          to find out: ridgeline bench SUITE --sizes 32,64,128 -o RUN
          4785 characters
        Would it help if all work were twice as fast?
          Saves: cannot tell: the capture doesn't have the calls that launched its device work, so the cause of its waits is unknown - saving of all changes together; overlapping changes count once
          2700 characters
        29743 characters in all
    "#]].assert_eq(&said);
}

#[test]
fn two_captures_are_compared() {
    let mut client = Client::start();
    let (before, _) = client.open("fixtures/real/kineto/v100_dlrm_8rank/rank0.json.gz");
    let (after, _) = client.open("fixtures/real/kineto/v100_dlrm_8rank/rank1.json.gz");
    let (text, failed) = client.call("diff", json!({ "before": before, "after": after, "by": "kernel" }));
    assert!(!failed, "{text}");
    let lines: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            "basis: times are measured; intervals are modelled from repeated steps or runs; predicted savings are modelled",
            "inconclusive: step 14.5 ms → 19.9 ms, +37.7%"
        ]
    );
    client.end();
}

#[test]
fn there_are_eight_tools_and_all_of_them_only_read() {
    let mut client = Client::start();
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["open", "findings", "explain", "table", "diff", "what_if", "source", "next"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert!(tools.iter().all(|tool| tool["inputSchema"]["properties"]["characters"]["maximum"] == 100_000));
    client.end();
}

#[test]
fn a_long_reply_is_cut_at_the_budget_and_tells_how_much_there_is() {
    let mut client = Client::start();
    let (id, _) = client.open("fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz");
    let (text, _) = client.call("table", json!({ "id": id, "view": "kernel", "top": 50 }));
    assert!(text.chars().count() <= 8_000, "{}", text.chars().count());
    let last = text.lines().find(|line| line.starts_with('[')).expect("a last line");
    assert!(
        last.contains(" rows shown; `filter`, `columns`, `top` (at most 50) or `characters` show others]"),
        "{last}"
    );
    let (short, _) = client.call("findings", json!({ "id": id, "all": true, "characters": 600 }));
    assert!(short.chars().count() <= 600 && short.contains("[cut: "), "{short}");
    let (explained, failed) = client.call("explain", json!({ "rule": "data-loading" }));
    assert!(!failed && explained.contains("DataLoader"), "{explained}");
    client.end();
}

#[test]
fn what_is_wrong_is_told_and_the_conversation_goes_on() {
    let mut client = Client::start();
    let told = [
        client.call("findings", json!({ "id": "c1" })),
        client.call("open", json!({ "path": "fixtures/nowhere" })),
        client.call("open", json!({ "path": "fixtures/README.md", "budget": 3 })),
        client.call("explain", json!({ "rule": "loading" })),
    ];
    let mut said: String = told.iter().map(|(text, failed)| format!("{failed} {text}")).collect();
    client.open("fixtures/chrome/torch_mlp.json");
    for arguments in [
        json!({ "id": "c1", "view": "nothing" }),
        json!({ "id": "c1", "view": "op", "sort": "size" }),
        json!({ "id": "c1", "view": "op", "filter": ["calls"] }),
    ] {
        let (text, failed) = client.call("table", arguments);
        said.push_str(&format!("{failed} {text}"));
    }
    client.say("{");
    said.push_str(&format!("{}\n", client.hear()));
    let long = format!("{{\"id\": \"{}\"}}", "x".repeat(1 << 20));
    client.say(&long);
    said.push_str(&format!("{}\n", client.hear()));
    let answer = client.ask("resources/list", json!({}));
    said.push_str(&format!("{}\n", answer["error"]));
    let answer = client.ask("tools/call", json!({ "name": "record", "arguments": {} }));
    said.push_str(&format!("{}\n", answer["error"]));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.end();
    expect![[r#"
        true error: unknown capture id `c1`; none is open
        hint: `open` opens a capture and returns its id
        true error: could not open: No such file or directory (os error 2) (fixtures/nowhere)
        true error: expected other arguments: unknown field `budget`, expected one of `path`, `paths`, `characters`
        true error: unknown rule `loading`
        hint: did you mean `data-loading`?
        true error: unknown view `nothing`
        hint: `table` without "view" lists them
        true error: unknown column `size` of `op`
        hint: it has op, module, category, self_ns, self_share, flops_per_sec, bytes_per_sec, intensity, bound, headroom, unknown_share, total_ns, events, min_ns, median_ns, p95_ns, max_ns, executions, attribution, scope
        true error: expected a condition such as `calls>=10` or `op~gemm`, found `calls`
        hint: signs: = != > >= < <= and ~ for "contains", whatever its case
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"expected a message in JSON: EOF while parsing an object at line 2 column 0"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"expected a message of at most 1048576 bytes, found a longer one"}}
        {"code":-32601,"message":"unknown method `resources/list`"}
        {"code":-32602,"message":"unknown tool `record`"}
    "#]].assert_eq(&said);
}
