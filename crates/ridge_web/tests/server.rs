//! The server as programs on the same machine see it: over a socket, with words of their own choice.

mod support;

use flate2::read::GzDecoder;
use std::io::Read as _;
use support::page_of;
use support::running::Running;

fn started() -> Running {
    let trace = r#"{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"<script>alert(1)</script>"}]}"#;
    Running::of(page_of("trace.json", trace.as_bytes()))
}

#[test]
fn its_own_page_is_answered() {
    let server = started();
    let (status, head, body) = server.get("/api/v1/capture");
    assert_eq!((status, head.contains("application/json")), (200, true), "{head}");
    let capture: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!((&capture["title"], &capture["events"]), (&"trace.json".into(), &1.into()));
    let (status, _, body) = server.get("/api/v1/tile/0/0/0");
    assert_eq!((status, &body[..4]), (200, &b"RLT1"[..]));
}

#[test]
fn without_its_token_nothing_is_said() {
    let server = started();
    let host = format!("Host: {}", server.at);
    let wrong = format!("Authorization: Bearer {}", "0".repeat(server.token.len()));
    for lines in [vec!["GET /api/v1/capture HTTP/1.1", &host], vec!["GET /api/v1/capture HTTP/1.1", &host, &wrong]] {
        let (status, _, body) = server.ask(&lines);
        let said = String::from_utf8_lossy(&body).into_owned();
        assert!(status == 401 && said.contains("expected the token") && !said.contains("trace.json"), "{said}");
    }
    assert_eq!(server.ask(&["GET /api/v1/capture?token=x HTTP/1.1", &host]).0, 401);
}

#[test]
fn a_copied_address_opens_in_another_tab_and_nowhere_else() {
    let server = started();
    let host = format!("Host: {}", server.at);
    let token = format!("Authorization: Bearer {}", server.token);
    let enter = ["POST /api/v1/enter HTTP/1.1", &host, "Content-Length: 0"];
    assert_eq!(server.ask(&enter).0, 401);
    let (status, head, body) = server.ask(&[&enter[..], &[&token]].concat());
    let said: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let place = said["place"].as_str().expect("a path").to_owned();
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert_eq!(status, 200);
    assert!(!cookie.contains(&server.token) && !place.contains(&server.token), "{cookie} {place}");
    let parts: Vec<&str> = cookie.split("; ").collect();
    assert_eq!(parts[1..], [&format!("path={place}"), "httponly", "samesite=strict"]);
    let pair = format!("Cookie: {}", parts[0]);
    let at_place = |path: &str, more: &[&str]| {
        let get = format!("GET {place}{path} HTTP/1.1");
        server.ask(&[&[get.as_str(), &host, &pair], more].concat()).0
    };
    assert_eq!(at_place("", &[]), 200, "the page");
    assert_eq!(at_place("api/v1/capture", &["Ridgeline-Page: 1"]), 200);
    assert_eq!(at_place("api/v1/capture", &[]), 401, "a link, an image, a form");
    assert_eq!(at_place("api/v1/capture", &["Ridgeline-Page: 1", "Sec-Fetch-Site: same-site"]), 403);
    assert_eq!(server.ask(&["GET /api/v1/capture HTTP/1.1", &host, &pair, "Ridgeline-Page: 1"]).0, 401);
}

#[test]
fn names_of_others_and_their_pages_are_refused() {
    let server = started();
    let (host, token) = (format!("Host: {}", server.at), format!("Authorization: Bearer {}", server.token));
    let get = "GET /api/v1/capture HTTP/1.1";
    assert_eq!(server.ask(&[get, "Host: evil.example", &token]).0, 403);
    assert_eq!(server.ask(&[get, &host, &token, "Origin: http://evil.example"]).0, 403);
    assert_eq!(server.ask(&[get, &host, &token, "Sec-Fetch-Site: cross-site"]).0, 403);
    assert_eq!(server.ask(&[get, &host, &token, &format!("Origin: http://{}", server.at)]).0, 200);
}

#[test]
fn no_path_leads_to_a_file() {
    let server = started();
    for path in [
        "/etc/passwd",
        "/../../../../etc/passwd",
        "/api/v1/../../../etc/passwd",
        "/api/v1/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/source?file=/etc/passwd",
        "/api/v1/source?file=../../../../etc/passwd",
        "/api/v1/hlo/text?module=../../etc/passwd",
        "//etc/passwd",
    ] {
        let (status, _, body) = server.get(path);
        let said = String::from_utf8_lossy(&body).into_owned();
        assert!(status == 404 && !said.contains("root:"), "{path}: {status} {said}");
    }
}

#[test]
fn nothing_can_be_changed() {
    let server = started();
    let (host, token) = (format!("Host: {}", server.at), format!("Authorization: Bearer {}", server.token));
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let (status, head, _) = server.ask(&[&format!("{method} /api/v1/capture HTTP/1.1"), &host, &token]);
        assert_eq!((status, head.contains("allow: get, head")), (405, true), "{method}");
    }
    let (status, _, body) = server.ask(&["HEAD /api/v1/capture HTTP/1.1", &host, &token]);
    assert_eq!((status, body.len()), (200, 0));
}

#[test]
fn browsers_are_told_to_run_nothing_else() {
    let server = started();
    let (status, head, body) = server.ask(&["GET / HTTP/1.1", &format!("Host: {}", server.at)]);
    assert_eq!(status, 200);
    for said in ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "nosniff", "no-referrer"] {
        assert!(head.contains(said), "{said} in {head}");
    }
    assert!(!head.contains("script-src 'unsafe"), "{head}");
    assert!(!String::from_utf8_lossy(&body).contains("trace.json"), "the page holds nothing of the capture");
}

#[test]
fn large_answers_are_packed_where_that_is_understood() {
    let server = started();
    let (host, token) = (format!("Host: {}", server.at), format!("Authorization: Bearer {}", server.token));
    let (_, plain_head, plain) = server.get("/api/v1/capture");
    let (status, head, packed) =
        server.ask(&["GET /api/v1/capture HTTP/1.1", &host, &token, "Accept-Encoding: gzip, br"]);
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).expect("gzip");
    assert!(status == 200 && head.contains("content-encoding: gzip") && !plain_head.contains("gzip"), "{head}");
    assert!(unpacked == plain && packed.len() < plain.len());
}

#[test]
fn a_file_of_the_page_is_opened_beside_the_capture() {
    let server = started();
    let (host, token) = (format!("Host: {}", server.at), format!("Authorization: Bearer {}", server.token));
    let own = format!("Origin: http://{}", server.at);
    let other = r#"{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"other"}]}"#;
    let length = format!("Content-Length: {}", other.len());
    let post = |query: &str, lines: &[&str], body: &str| {
        let request = format!("POST /api/v1/open?{query} HTTP/1.1");
        let mut all = vec![request.as_str(), host.as_str()];
        all.extend(lines);
        server.send(&all, body)
    };
    let (status, _, body) = post("name=../../up/other.json", &[&token, &own, &length], other);
    assert_eq!((status, String::from_utf8_lossy(&body).into_owned()), (200, r#"{"id":1}"#.to_owned()));
    let document = |path: &str| -> serde_json::Value { serde_json::from_slice(&server.get(path).2).expect("JSON") };
    let capture = document("/api/v1/at/1/capture");
    assert_eq!((&capture["title"], &capture["path"]), (&"other.json".into(), &serde_json::Value::Null));
    assert_eq!(capture["files"][0]["name"], "other.json");
    assert_eq!(document("/api/v1/at/1/event/0")["name"], "other");
    assert_eq!(document("/api/v1/capture")["title"], "trace.json");
    let listed = document("/api/v1/captures");
    assert_eq!(listed["captures"].as_array().map(Vec::len), Some(2));
    // What is no capture, what others ask, and what is not there.
    let (status, _, said) = post("name=x.json", &[&token, &own, "Content-Length: 4"], "nope");
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(status == 404 || status == 400, "{status} {said}");
    assert!(said.contains("unrecognized file format") && !said.contains("ridgeline-open"), "{said}");
    assert_eq!(post("name=x", &[&own, &length], other).0, 401);
    assert_eq!(post("name=x", &[&token, "Origin: http://evil.example", &length], other).0, 403);
    assert_eq!(post("session=0", &[&token, &own, "Content-Length: 0"], "").0, 404);
    assert_eq!(server.get("/api/v1/at/9/capture").0, 404);
    // Of many, those opened last stay.
    for _ in 0..3 {
        assert_eq!(post("name=other.json", &[&token, &own, &length], other).0, 200);
    }
    assert_eq!((server.get("/api/v1/at/1/capture").0, server.get("/api/v1/at/4/capture").0), (404, 200));
}

#[test]
fn the_capture_goes_to_another_viewer_as_a_file() {
    let server = started();
    let (status, _, body) = server.get("/api/v1/export?to=chrome");
    let trace: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let names = trace["traceEvents"].as_array().expect("events").iter().map(|event| &event["name"]);
    assert_eq!((status, names.filter(|name| **name == "<script>alert(1)</script>").count()), (200, 1));
    assert_eq!(server.get("/api/v1/export?to=perfetto").0, 200);
    assert_eq!(server.get("/api/v1/export?to=elsewhere").0, 400);
}
