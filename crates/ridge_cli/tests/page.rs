//! `ridgeline view` and `ridgeline report` as programs.

#![cfg(feature = "page")]

mod run;

use run::{ridgeline, run};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

/// The path of a fixture.
fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
#[cfg(unix)]
fn view_prints_its_address_answers_and_ends_with_ctrl_c() {
    let view = ["view", &fixture("xplane/train_steps.xplane.pb"), "--no-open"];
    let mut program = ridgeline(&view).spawn().expect("it starts");
    let mut address = String::new();
    BufReader::new(program.stdout.take().expect("piped")).read_line(&mut address).expect("it says its address");
    let (at, token) =
        address.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/#token=")).expect("an address");
    let ask = |authorization: &str| {
        let mut connection = TcpStream::connect(at).expect("it listens");
        let request = format!("GET /api/v1/capture HTTP/1.1\r\nHost: {at}\r\n{authorization}Connection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("answered");
        answer
    };
    let answer = ask(&format!("Authorization: Bearer {token}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("train_steps.xplane.pb"), "{answer}");
    assert!(ask("").starts_with("HTTP/1.1 401"));
    let interrupted = Command::new("kill").args(["-INT", &program.id().to_string()]).status().expect("kill runs");
    assert!(interrupted.success());
    assert_eq!(program.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_taken_port_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let ran = run(&["view", &fixture("xplane/train_steps.xplane.pb"), "--no-open", "--port", &port]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains(&format!("cannot listen at 127.0.0.1:{port}")), "{}", ran.stderr);
}

#[test]
fn a_report_is_one_file_and_says_what_it_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html").display().to_string();
    let capture = fixture("xplane/train_steps.xplane.pb");
    let ran = run(&["report", &capture, "-o", &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("report.html") && ran.stdout.contains("left out"), "{}", ran.stdout);
    let html = std::fs::read_to_string(&path).expect("it is there");
    assert!(html.contains("id=\"ridgeline-data\""));
    let small = run(&["report", &capture, "-o", &path, "--max-size", "1kB"]);
    assert!(small.code == Some(1) && small.stderr.contains("expected room for a report"), "{}", small.stderr);
    let unknown = run(&["report", &capture, "-o", &path, "--views", "everything"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("expected one of overview"), "{}", unknown.stderr);
    let nowhere = run(&["report", &capture, "-o", &path, "--at", "#/nonsense?a=0"]);
    assert!(
        nowhere.code == Some(2) && nowhere.stderr.contains("expected an address of the page"),
        "{}",
        nowhere.stderr
    );
}
