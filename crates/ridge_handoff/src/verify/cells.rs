//! What Yosys counts of a netlist: cells of UltraScale+ by kind.

/// Cells by kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Cells {
    look_up_tables: u64,
    registers: u64,
    shift_registers: u64,
    carry_chains: u64,
    multipliers: u64,
    memories: u64,
    /// Blocks of 36 Kbit; a half one counts as half.
    block_rams: f64,
    /// Look-up tables that are small memories.
    as_memory: u64,
}

impl Cells {
    /// Those in what Yosys's `stat` says.
    pub(super) fn of(stat: &str) -> Cells {
        let mut cells = Cells::default();
        for line in stat.lines() {
            let mut words = line.split_whitespace();
            if let (Some(cell), Some(count)) = (words.next(), words.next().and_then(|count| count.parse().ok())) {
                cells.add(cell, count);
            }
        }
        cells
    }

    fn add(&mut self, cell: &str, count: u64) {
        let kinds = [
            ("LUT", &mut self.look_up_tables),
            ("FD", &mut self.registers),
            ("SRL", &mut self.shift_registers),
            ("CARRY", &mut self.carry_chains),
            ("DSP", &mut self.multipliers),
            ("RAM", &mut self.memories),
        ];
        for (kind, sum) in kinds {
            if cell.starts_with(kind) {
                *sum += count;
            }
        }
        self.block_rams += count as f64 * blocks(cell);
        self.as_memory += count * small(cell);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        *self == Cells::default()
    }

    /// The kinds that there are, in words.
    pub(super) fn words(&self) -> String {
        let all = [
            (self.look_up_tables, "look-up tables"),
            (self.registers, "registers"),
            (self.shift_registers, "shift registers"),
            (self.carry_chains, "carry chains"),
            (self.multipliers, "multipliers"),
            (self.memories, "memories"),
        ];
        let named = all.iter().filter(|(sum, _)| *sum > 0).map(|(sum, name)| format!("{sum} {name}"));
        named.collect::<Vec<_>>().join(", ")
    }

    /// All of them for the ledger.
    pub(super) fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("look_up_tables", self.look_up_tables as f64),
            ("registers", self.registers as f64),
            ("shift_registers", self.shift_registers as f64),
            ("carry_chains", self.carry_chains as f64),
            ("multipliers", self.multipliers as f64),
            ("block_rams", self.block_rams),
            ("look_up_tables_as_memory", self.as_memory as f64),
        ]
    }
}

/// Blocks of 36 Kbit that a cell takes.
fn blocks(cell: &str) -> f64 {
    match cell {
        cell if cell.starts_with("RAMB36") => 1.0,
        cell if cell.starts_with("RAMB18") => 0.5,
        _ => 0.0,
    }
}

/// Look-up tables that a small memory takes: UG974, "UltraScale Architecture Libraries Guide".
fn small(cell: &str) -> u64 {
    match cell {
        "RAM32X1S" | "RAM64X1S" => 1,
        "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => 2,
        "RAM32M" | "RAM64M" | "RAM128X1D" | "RAM256X1S" => 4,
        "RAM32M16" | "RAM64M8" | "RAM64X8SW" | "RAM256X1D" | "RAM512X1S" => 8,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_by_kind() {
        let stat = "   Number of cells:               2930\n     CARRY4                        138\n     FDRE                         1378\n     FDSE                            1\n     LUT2                          110\n     LUT6                          224\n     RAM32M16                        2\n     RAMB18E2                        7\n     RAMB36E2                        2\n     SRLC32E                         1\n     kernel                          1\n";
        let cells = Cells::of(stat);
        assert_eq!(
            cells.words(),
            "334 look-up tables, 1379 registers, 1 shift registers, 138 carry chains, 11 memories"
        );
        assert_eq!((cells.block_rams, cells.as_memory), (5.5, 16));
        assert!(Cells::of("=== core ===\n").is_empty());
    }
}
