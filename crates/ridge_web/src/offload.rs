//! What other hardware would gain, as `ridgeline offload` says it.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use ridge_report::offload::json as report;
use ridgeline::OffloadOptions;
use ridgeline::offloading::WhatIf;
use serde_json::Value;

/// `offload?as=GPU&board=A,B&to=GPU&what_if=CHANGES`: the document of `ridgeline offload -f json`.
pub(crate) fn offload(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let several = |key: &str| -> Vec<String> {
        request.get(key).into_iter().flat_map(|names| names.split(',')).map(|name| name.trim().to_owned()).collect()
    };
    let what_if =
        WhatIf::parse(request.get("what_if").unwrap_or("")).map_err(|error| Refusal::bad(error.to_string()))?;
    let meant = request.get("as").map(str::to_owned);
    let options =
        OffloadOptions { boards: several("board"), gpus: several("to"), meant, what_if, ..OffloadOptions::default() };
    Ok(report::document_value(&page.session().offload(&options)?))
}
