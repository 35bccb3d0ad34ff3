//! A check of a JSON document against a JSON Schema, for the keywords that the pages in `docs/json` use and no others.
//!
//! A keyword it does not know is a problem, so that a page cannot say more than is checked.

use serde_json::Value;

/// What in `document` breaks `page`; empty if nothing does.
pub(crate) fn problems(page: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(page, page, document, "", &mut found);
    found
}

fn check(page: &Value, rule: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, said) in rule.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = said.as_str().and_then(|said| said.strip_prefix('#')).expect("a local reference");
                check(page, page.pointer(pointer).expect("a reference that exists"), value, at, found);
            }
            "anyOf" => {
                let mut ways = said.as_array().expect("a list").iter();
                let fits = ways.any(|way| {
                    let mut of_way = Vec::new();
                    check(page, way, value, at, &mut of_way);
                    of_way.is_empty()
                });
                require(fits, || format!("{at}: expected any of {said}, found {value}"), found);
            }
            "type" => require(is_type(said, value), || format!("{at}: expected {said}, found {value}"), found),
            "const" => require(said == value, || format!("{at}: expected {said}, found {value}"), found),
            "enum" => {
                let known = said.as_array().expect("a list").contains(value);
                require(known, || format!("{at}: expected one of {said}, found {value}"), found);
            }
            "minimum" => {
                let enough = value.as_f64().is_none_or(|number| number >= said.as_f64().expect("a number"));
                require(enough, || format!("{at}: expected at least {said}, found {value}"), found);
            }
            // What may be null as well as an object needs its keys only where it is one.
            "required" if value.is_null() => {}
            "required" => {
                for key in said.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    require(value.get(key).is_some(), || format!("{at}: expected the key {key}"), found);
                }
            }
            "properties" | "additionalProperties" => {}
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(page, said, item, &format!("{at}/{index}"), found);
                }
            }
            other => found.push(format!("{at}: the check does not know the keyword {other}")),
        }
    }
    check_properties(page, rule, value, at, found);
}

fn check_properties(page: &Value, rule: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{key}");
        match (rule.get("properties").and_then(|known| known.get(key)), rule.get("additionalProperties")) {
            (Some(rule), _) => check(page, rule, inner, &at, found),
            (None, Some(Value::Bool(false))) => found.push(format!("{at}: unexpected key")),
            (None, Some(rule @ Value::Object(_))) => check(page, rule, inner, &at, found),
            (None, _) => {}
        }
    }
}

fn require(holds: bool, problem: impl FnOnce() -> String, found: &mut Vec<String>) {
    if !holds {
        found.push(problem());
    }
}

fn is_type(said: &Value, value: &Value) -> bool {
    let one = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type {other} in JSON Schema"),
    };
    match said {
        Value::String(name) => one(name),
        names => names.as_array().expect("a name or a list").iter().filter_map(Value::as_str).any(one),
    }
}
