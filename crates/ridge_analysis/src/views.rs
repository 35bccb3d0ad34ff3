//! Every view, in the order that reports show them: what the command line, JSON, the docs, fuzzing and pages read.
//!
//! A new table is one file under `tables/` and one line here.

use crate::tables::{
    call, category, collective, compilation, copy, counter, fused, idle, kernel, launch, layout, memory, metric,
    module, op, operator, profile, queue, range, rank, rate, roofline, scope, sequence, source, step, track, transfers,
};
use crate::view::{Topic, View};

/// Every view.
pub static VIEWS: &[&View] = &[
    &range::VIEW,
    &step::VIEW,
    &rank::VIEW,
    &collective::VIEW,
    &operator::VIEW,
    &operator::BY_SHAPES,
    &sequence::VIEW,
    &fused::VIEW,
    &layout::VIEW,
    &module::VIEW,
    &compilation::VIEW,
    &category::VIEW,
    &op::VIEW,
    &kernel::VIEW,
    &source::VIEW,
    &scope::VIEW,
    &track::VIEW,
    &profile::VIEW,
    &metric::VIEW,
    &call::VIEW,
    &copy::VIEW,
    &launch::VIEW,
    &counter::VIEW,
    &roofline::BY_OP,
    &roofline::BY_KERNEL,
    &roofline::BY_MODULE,
    &roofline::BY_STEP,
    &roofline::BY_RANGE,
    &roofline::BY_PROFILE,
    &idle::BY_DEVICE,
    &idle::BY_CAUSE,
    &idle::BY_HOST,
    &idle::BY_OP,
    &idle::BY_RANGE,
    &idle::BY_SOURCE,
    &idle::GAPS,
    &queue::VIEW,
    &transfers::BY_DIRECTION,
    &transfers::BY_SIZE,
    &rate::VIEW,
    &transfers::BY_CAUSE,
    &transfers::REPEATS,
    &transfers::LAYOUTS,
    &memory::MODULES,
    &memory::ALIVE,
    &memory::DONATIONS,
    &memory::ALLOCATORS,
    &memory::HOLDERS,
    &memory::USAGE,
    &memory::SEGMENTS,
    &memory::SNAPSHOTS,
    &memory::BLOCKS,
];

/// The views of `topic`, in report order.
pub fn views_of(topic: Topic) -> impl Iterator<Item = &'static View> {
    VIEWS.iter().copied().filter(move |view| view.topic == topic)
}

/// The view of `topic` that is called `name`.
pub fn view(topic: Topic, name: &str) -> Option<&'static View> {
    views_of(topic).find(|view| view.is_called(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_of_a_kind_within_a_topic() {
        for topic in Topic::ALL {
            let mut names: Vec<&str> =
                views_of(topic).flat_map(|view| view.aliases.iter().chain([&view.id])).copied().collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{topic:?}");
        }
    }
}
