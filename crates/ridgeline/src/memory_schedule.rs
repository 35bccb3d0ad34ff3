//! What one compiled program has in memory along its schedule, for whoever draws it.

use crate::error::{Details, OpenError};
use crate::hlo::module_row;
use crate::session::Session;
use ridge_analysis::models::memory::{Class, Held, PlannedModule};
use ridge_hlo::HloModule;
use ridge_table::Basis;
use ridge_trace::ModuleRow;

/// Stretches of a schedule.
const MOST_COLUMNS: u32 = 400;
/// Values that are named; the largest.
const MOST_VALUES: usize = 400;

/// A schedule with what is in memory along it.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySchedule {
    /// Where the plan comes from.
    pub basis: Basis,
    /// Instructions in the order in which they run.
    pub positions: u32,
    /// The most that is planned at one time, bytes.
    pub peak_bytes: u64,
    /// Where that is: position and instruction.
    pub peak_at: Option<(u32, String)>,
    /// Positions that each of `columns` stands for.
    pub width: u32,
    /// Bytes by class, in the order of `classes`, at the fullest position of each stretch.
    pub columns: Vec<Vec<u64>>,
    /// The classes.
    pub classes: Vec<&'static str>,
    /// The largest values.
    pub values: Vec<ScheduledValue>,
    /// Values that are not named.
    pub others: u64,
}

/// A value that takes memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledValue {
    /// The instruction that makes it, with the place in its tuple.
    pub name: String,
    /// The instruction alone.
    pub op: Option<String>,
    /// What it is for, by position in the classes.
    pub class: usize,
    /// Bytes.
    pub bytes: u64,
    /// First and last position.
    pub lives: (u32, u32),
    /// File and line that made it.
    pub source: Option<(String, u32)>,
    /// Scope path, or the argument's name.
    pub scope: String,
}

impl Session {
    /// The memory of `module` along its schedule.
    ///
    /// # Errors
    /// [`OpenError`] where the module is not there, or has no HLO.
    pub fn memory_schedule(&self, module: &str) -> Result<MemorySchedule, OpenError> {
        let row = ModuleRow(module_row(self.imported(), module)?);
        self.with_analysis(|analysis| {
            let planned = analysis.memory().planned(Some(row)).ok_or_else(|| {
                OpenError::NotRecorded(Details::new(format!("the capture has no HLO of module `{module}`")))
            })?;
            Ok(schedule(planned, planned.hlo(analysis), &planned.course(analysis)))
        })
    }
}

fn schedule(planned: &PlannedModule, hlo: &HloModule, values: &[Held]) -> MemorySchedule {
    let positions = planned.schedule.len();
    let width = positions.div_ceil(MOST_COLUMNS).max(1);
    let at = planned.plan.peak_at;
    MemorySchedule {
        basis: planned.plan.basis,
        positions,
        peak_bytes: planned.plan.peak_bytes,
        peak_at: at.and_then(|at| Some((planned.schedule.position(at)?, hlo.instruction(at).name.clone()))),
        width,
        columns: columns(values, positions, width),
        classes: Class::ALL.iter().map(|class| class.name()).collect(),
        values: values.iter().take(MOST_VALUES).map(|held| named(hlo, held)).collect(),
        others: values.len().saturating_sub(MOST_VALUES) as u64,
    }
}

/// Of each stretch, the bytes by class at its fullest position.
fn columns(values: &[Held], positions: u32, width: u32) -> Vec<Vec<u64>> {
    let mut changes = vec![[0_i128; Class::ALL.len()]; positions as usize + 1];
    for held in values {
        let Some((from, to)) = held.lives else { continue };
        let class = place_of(held.class);
        changes[from.min(positions) as usize][class] += i128::from(held.bytes);
        changes[to.saturating_add(1).min(positions) as usize][class] -= i128::from(held.bytes);
    }
    let mut now = [0_i128; Class::ALL.len()];
    let sums = changes[..positions as usize].iter().map(|change| {
        now.iter_mut().zip(change).for_each(|(now, change)| *now += change);
        now
    });
    let sums: Vec<[i128; Class::ALL.len()]> = sums.collect();
    let fullest = |stretch: &[[i128; Class::ALL.len()]]| {
        let most = stretch.iter().max_by_key(|sums| sums.iter().sum::<i128>());
        most.map(|sums| sums.iter().map(|bytes| u64::try_from(*bytes).unwrap_or(u64::MAX)).collect())
            .unwrap_or_default()
    };
    sums.chunks(width as usize).map(fullest).collect()
}

fn place_of(class: Class) -> usize {
    Class::ALL.iter().position(|known| *known == class).unwrap_or(0)
}

fn named(hlo: &HloModule, held: &Held) -> ScheduledValue {
    let op = held.at.map(|at| hlo.instruction(at).name.clone());
    let index: Vec<String> = held.index.iter().map(i64::to_string).collect();
    let suffix = if index.is_empty() { String::new() } else { format!("{{{}}}", index.join(",")) };
    let source =
        held.at.and_then(|at| hlo.source_in_fusion(at).first().map(|frame| (frame.file.to_string(), frame.line)));
    ScheduledValue {
        name: op.as_ref().map_or_else(|| "(not named)".to_owned(), |op| format!("{op}{suffix}")),
        class: place_of(held.class),
        bytes: held.bytes,
        lives: held.lives.unwrap_or_default(),
        source,
        scope: held.at.map(|at| hlo.op_name_in_fusion(at).to_owned()).unwrap_or_default(),
        op,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;

    #[test]
    fn what_is_alive_at_the_peak_is_what_is_planned_there() {
        let path = ridge_test::real("xplane").join("mi300_gemm.xplane.pb");
        let session = Session::open(&[path], &OpenOptions::default()).expect("a capture");
        let names: Vec<String> = session.trace().modules.iter().map(|module| module.program_id.to_string()).collect();
        let found: Vec<MemorySchedule> = names.iter().filter_map(|name| session.memory_schedule(name).ok()).collect();
        assert!(found.len() > 3, "{}", found.len());
        for schedule in found {
            let most = schedule.columns.iter().map(|column| column.iter().sum::<u64>()).max().unwrap_or(0);
            // Room that alignment leaves over is planned and holds no value; XLA counts no tables of tuples.
            let share = most as f64 / schedule.peak_bytes.max(1) as f64;
            assert!((0.9..1.001).contains(&share), "{most} of {}", schedule.peak_bytes);
            assert!(schedule.values.iter().all(|value| value.lives.1 < schedule.positions));
            assert!(schedule.columns.len() as u32 * schedule.width >= schedule.positions);
        }
        assert!(session.memory_schedule("nothing like it").is_err());
    }
}
