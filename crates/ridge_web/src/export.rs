//! The capture for another viewer, as `ridgeline export` writes it, without what is private.

use crate::answer::{Answer, Refusal};
use crate::page::Page;
use crate::request::Request;
use ridge_export::{Form, Privacy, export as written};

/// Events of one file: it is made in memory, here and in the browser.
const MOST_EVENTS: usize = 1 << 22;

/// `export?to=perfetto`: a file of its form.
pub(crate) fn export(page: &Page, request: &Request) -> Result<Answer, Refusal> {
    let form = match request.get("to") {
        Some("perfetto") => Form::Perfetto,
        Some("chrome") => Form::Chrome,
        Some("speedscope") => Form::Speedscope,
        Some("csv") => Form::Csv,
        other => {
            let found = other.unwrap_or("none");
            return Err(Refusal::bad(format!("expected perfetto, chrome, speedscope or csv, found `{found}`")));
        }
    };
    let trace = page.session().trace();
    if trace.events.len() > MOST_EVENTS {
        let found = trace.events.len();
        let refusal =
            Refusal::bad(format!("expected at most {MOST_EVENTS} events to write into a page, found {found}"));
        return Err(refusal.hint("`ridgeline export CAPTURE --to perfetto` writes a file of any size."));
    }
    let words = ridgeline::private_words(&page.paths);
    let mut file = Vec::new();
    let programs = |module: usize| page.session().program_text(module);
    let made = written(trace, &programs, form, Privacy::RemovedWith(&words), &mut file, &mut |_| {});
    made.map_err(|error| Refusal::bad(format!("the file could not be made: {error}")))?;
    Ok(Answer::file(file))
}
