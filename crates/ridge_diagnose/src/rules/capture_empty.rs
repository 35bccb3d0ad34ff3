//! Nothing that a device did was recorded.

use crate::case::{Case, Framework};
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};

pub(crate) static RULE: Rule = Rule {
    id: "capture-empty",
    group: Group::Fitness,
    summary: "the capture holds no device work",
    document: include_str!("capture_empty.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if case.wall().busy_ns() > 0 {
        return;
    }
    let launches: u64 = case.trace().processes_without_device_activity().iter().map(|(_, launches)| launches).sum();
    let message = match launches {
        0 => "no device work was recorded".to_owned(),
        launches => format!("the host launched {launches} kernels and nothing that the device did was recorded"),
    };
    let command = match case.framework() {
        Framework::Torch => "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
        _ => "ridgeline record -- python PROGRAM.py",
    };
    let blocks = vec![Question::Device, Question::Idle, Question::Steps];
    doubts.push(Doubt { message, command: Some(command.to_owned()), blocks });
}
