//! Which process of a job this one is, where a launcher started several: told by the variables that launchers set.

use ridge_documents::rank_folder;
use std::path::{Path, PathBuf};

/// Variables with the number of a process, and those with how many there are.
///
/// Slurm sets `SLURM_PROCID` in batch scripts, too, which are one process; the size of a step is there in steps alone.
const LAUNCHERS: [(&str, &str); 6] = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("JAX_PROCESS_ID", "JAX_NUM_PROCESSES"),
];

/// One process of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rank {
    /// Its number, from 0.
    pub(crate) index: u32,
    /// How many there are, where that is told.
    pub(crate) count: Option<u32>,
}

impl Rank {
    /// What the environment says; `None` where nothing says that there are several.
    pub(crate) fn of_environment() -> Option<Rank> {
        Rank::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Rank> {
        let number = |name: &str| variable(name)?.parse::<u32>().ok();
        // The first of several whose number is not told looks like the only one, and is recorded as that.
        LAUNCHERS.iter().find_map(|(index, count)| match (number(index)?, number(count)) {
            (index, Some(count)) => (count > 1 && index < count).then_some(Rank { index, count: Some(count) }),
            (index, None) => (index > 0).then_some(Rank { index, count: None }),
        })
    }

    /// Where its recording goes, of a job's in `folder`.
    pub(crate) fn folder(self, folder: &Path) -> PathBuf {
        folder.join(rank_folder(self.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_say_which_process_it_is() {
        for (variables, expected) in [
            ("", None),
            ("RANK=3 WORLD_SIZE=8 LOCAL_RANK=3", Some((3, Some(8)))),
            ("RANK=0 WORLD_SIZE=1", None),
            ("RANK=2", Some((2, None))),
            ("RANK=9 WORLD_SIZE=8", None),
            ("RANK=two WORLD_SIZE=8", None),
            ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", Some((1, Some(2)))),
            ("PMI_RANK=0 PMI_SIZE=4", Some((0, Some(4)))),
            ("SLURM_PROCID=0 SLURM_NTASKS=4", None),
            ("SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4", Some((1, Some(4)))),
            ("JAX_PROCESS_ID=1 JAX_NUM_PROCESSES=2", Some((1, Some(2)))),
        ] {
            let found = Rank::of(|name| {
                let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
                pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
            });
            assert_eq!(found.map(|rank| (rank.index, rank.count)), expected, "{variables}");
        }
    }
}
