//! Which address has which answer.

use crate::answer::{Answer, Refusal};
use crate::interest::Interest;
use crate::page::Page;
use crate::request::Request;
use crate::{
    beside, capture, charts, collectives, compare, critical, durations, event, export, findings, flame, flows, hlo,
    idle, memory, offload, query, replay, scaling, search, selection, source, subjects, tables, timeline,
};
use serde_json::Value;

impl Page {
    /// The answer to `address`, such as `table/time/op?sort=self_ns`.
    ///
    /// # Errors
    /// [`Refusal`] where the address means nothing, or nothing that the capture has.
    pub fn answer(&self, address: &str) -> Result<Answer, Refusal> {
        self.answer_while(address, &Interest::default())
    }

    /// The same, given up where `interest` is lost before a program has answered.
    pub(crate) fn answer_while(&self, address: &str, interest: &Interest) -> Result<Answer, Refusal> {
        let request = Request::parse(address);
        match request.parts()[..] {
            ["tile", track, level, index] => timeline::one(self, track, level, index),
            ["tiles"] => timeline::several(self, &request),
            ["export"] => export::export(self, &request),
            ["query", ..] => query::query(self, &request, interest),
            _ => self.document(address).map(|value| Answer::json(&value)),
        }
    }

    /// The answer to an `address` whose answers are documents.
    pub(crate) fn document(&self, address: &str) -> Result<Value, Refusal> {
        let mut value = self.value(&Request::parse(address))?;
        self.cleaner.iter().for_each(|cleaner| cleaner.value(&mut value));
        Ok(value)
    }

    fn value(&self, request: &Request) -> Result<Value, Refusal> {
        match request.parts()[..] {
            ["capture"] => Ok(self.capture.get_or_init(|| capture::capture(self)).clone()),
            ["findings"] => Ok(findings::findings(self, request)),
            ["table", topic, view] => tables::table(self, topic, view, request),
            ["timeline"] => Ok(timeline::outline(self)),
            ["event", row] => event::event(self, row),
            ["durations", row] => durations::durations(self, row),
            ["events"] => subjects::events(self, request),
            ["gap"] => idle::gap(self, request),
            ["idle"] => idle::idle(self, request),
            ["search"] => search::search(self, request),
            ["collectives"] => collectives::collectives(self, request),
            ["critical"] => critical::critical(self, request),
            ["flows"] => flows::flows(self, request),
            ["steps"] => beside::steps(self, request),
            ["beside"] => beside::beside(self, request),
            ["replay"] => replay::replay(self, request),
            ["selection"] => selection::selection(self, request),
            ["chart", "roofline"] => charts::roofline(self, request),
            ["chart", "idle"] if request.get("from").is_some() => idle::selected(self, request),
            ["chart", "idle"] => Ok(idle::causes(self)),
            ["chart", "memory"] => Ok(memory::memory(self)),
            ["chart", "alive"] => memory::alive(self, request),
            ["chart", "schedule"] => memory::schedule(self, request),
            ["compare"] => self.compared.get_or_init(|| compare::compare(self)).clone(),
            ["offload"] if request.is_plain() => self.offload.get_or_init(|| offload::offload(self, request)).clone(),
            ["offload"] => offload::offload(self, request),
            ["scaling"] => self.scaling.get_or_init(|| scaling::scaling(self)).clone(),
            ["counter", id] => charts::counter(self, id, request),
            ["flame", by] => flame::flame(self, by, request),
            ["sources"] => source::sources(self),
            ["source"] => source::source(self, request),
            ["hlo", "modules"] => Ok(hlo::modules(self, request)),
            ["hlo", "text"] => hlo::text(self, request),
            ["hlo", "graph"] => hlo::graph(self, request),
            ["hlo", "inside"] => hlo::inside(self, request),
            ref other => Err(Refusal::absent(format!("nothing is called `{}`", other.join("/")))),
        }
    }
}
