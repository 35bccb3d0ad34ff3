//! Which columns of a table are shown, and how wide.

use super::columns::{Says, TextColumn};
use ridgeline::Rank;

/// Blanks between columns.
pub(super) const GAP: usize = 2;
/// Columns of text that a name should have before details are worth showing.
const COMFORTABLE_NAME: usize = 40;
/// Columns of text that a name should have before an ordinary column is worth showing.
const TIGHT_NAME: usize = 24;
/// Columns of text below which a name is not shortened.
const LEAST_NAME: usize = 12;
/// Widest and narrowest bar.
const BARS: (usize, usize) = (16, 8);

/// The columns to show and their widths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fit {
    /// Index and width of each column shown, in order.
    pub(super) columns: Vec<(usize, usize)>,
    /// Width of the bar; zero where it is not shown.
    pub(super) bar: usize,
}

/// What may be left out, in the order in which it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spare {
    /// A column, by its index.
    Column(usize),
    /// The bar.
    Bar,
    /// Names may be as short as this.
    Name(usize),
}

/// Chooses columns for `room` columns of text; `bar_after` is the column that a bar may stand behind.
///
/// What goes first says nothing; then go details, what is zero throughout, what is minor, the bar, and ordinary columns
/// from the right. Where room is left in the end, what is needed most comes back.
pub(super) fn fit(columns: &[TextColumn], bar_after: Option<usize>, room: usize) -> Fit {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let mut name = COMFORTABLE_NAME;
    let mut bar = if bar_after.is_some() { BARS.1 } else { 0 };
    let mut gone: Vec<Spare> = Vec::new();
    for spare in spares(columns) {
        if needed(columns, &shown, name, bar) <= room {
            break;
        }
        match spare {
            Spare::Column(column) => shown.retain(|index| *index != column),
            Spare::Bar => bar = 0,
            Spare::Name(least) => name = least,
        }
        gone.push(spare);
    }
    // Names are worth more than what went before they were shortened.
    for spare in gone.into_iter().rev().take_while(|spare| *spare != Spare::Name(TIGHT_NAME)) {
        let mut more = shown.clone();
        match spare {
            Spare::Column(column) => more.insert(shown.partition_point(|index| *index < column), column),
            Spare::Bar if bar_after.is_some() && needed(columns, &shown, name, BARS.1) <= room => bar = BARS.1,
            Spare::Bar | Spare::Name(_) => {}
        }
        if needed(columns, &more, name, bar) <= room {
            shown = more;
        }
    }
    if !bar_after.is_some_and(|column| shown.contains(&column)) {
        bar = 0;
    }
    let widths = widen(columns, &shown, name, room.saturating_sub(needed(columns, &shown, name, bar)));
    let used: usize = widths.iter().map(|width| width + GAP).sum();
    if bar > 0 {
        bar = room.saturating_sub(used).clamp(BARS.1, BARS.0);
    }
    Fit { columns: shown.into_iter().zip(widths).collect(), bar }
}

/// What goes, and when; the first column is never left out.
fn spares(columns: &[TextColumn]) -> Vec<Spare> {
    let of = |holds: &dyn Fn(&TextColumn) -> bool| -> Vec<Spare> {
        let found = (1..columns.len()).rev().filter(|index| holds(&columns[*index]));
        found.map(Spare::Column).collect()
    };
    let ranked = |rank: Rank| of(&|column: &TextColumn| column.rank == rank && column.says == Says::Something);
    [
        of(&|column| column.says == Says::Nothing),
        of(&|column| column.rank == Rank::Detail && column.says != Says::Nothing),
        of(&|column| column.rank != Rank::Detail && column.says == Says::Zero),
        vec![Spare::Name(TIGHT_NAME)],
        ranked(Rank::Minor),
        vec![Spare::Bar],
        ranked(Rank::Normal),
        vec![Spare::Name(LEAST_NAME)],
    ]
    .concat()
}

fn base(column: &TextColumn, name: usize) -> usize {
    if column.words { column.natural.min(name) } else { column.natural }
}

fn needed(columns: &[TextColumn], shown: &[usize], name: usize, bar: usize) -> usize {
    let columns: usize = shown.iter().map(|&index| base(&columns[index], name) + GAP).sum();
    let bar = if bar > 0 { bar + GAP } else { 0 };
    (columns + bar).saturating_sub(GAP)
}

/// Gives what is left to the names, evenly, until each is whole.
fn widen(columns: &[TextColumn], shown: &[usize], name: usize, mut left: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = shown.iter().map(|&index| base(&columns[index], name)).collect();
    loop {
        let before = left;
        for (width, &index) in widths.iter_mut().zip(shown) {
            if left > 0 && *width < columns[index].natural {
                *width += 1;
                left -= 1;
            }
        }
        if left == before || left == 0 {
            return widths;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(rank: Rank, words: bool, natural: usize) -> TextColumn {
        TextColumn { title: String::new(), rank, words, cells: Vec::new(), natural, says: Says::Something }
    }

    #[test]
    fn details_go_first_then_ordinary_columns_from_the_right() {
        let columns = [
            column(Rank::Key, true, 50),
            column(Rank::Key, false, 8),
            column(Rank::Normal, false, 8),
            column(Rank::Normal, false, 8),
            column(Rank::Detail, false, 8),
        ];
        let shown = |room| fit(&columns, Some(2), room).columns.iter().map(|column| column.0).collect::<Vec<_>>();
        assert_eq!(shown(160), [0, 1, 2, 3, 4]);
        assert_eq!(shown(84), [0, 1, 2, 3]);
        assert_eq!(shown(64), [0, 1, 2, 3]);
        assert_eq!(shown(60), [0, 1, 2, 3]);
        assert_eq!(shown(50), [0, 1, 2]);
        assert_eq!(shown(40), [0, 1]);
        assert_eq!(fit(&columns, Some(2), 40).bar, 0);
        assert_eq!(
            fit(&columns, Some(2), 10).columns,
            [(0, 12), (1, 8)],
            "names shrink to a least width, numbers stay whole"
        );
    }

    #[test]
    fn what_says_nothing_goes_first_and_what_is_minor_before_the_bar() {
        let says = |says, column| TextColumn { says, ..column };
        let columns = [
            column(Rank::Key, true, 20),
            says(Says::Nothing, column(Rank::Key, false, 8)),
            column(Rank::Key, false, 8),
            column(Rank::Minor, false, 8),
            says(Says::Zero, column(Rank::Normal, false, 8)),
            column(Rank::Normal, false, 8),
        ];
        let shown = |room| {
            let fit = fit(&columns, Some(2), room);
            (fit.columns.iter().map(|column| column.0).collect::<Vec<_>>(), fit.bar > 0)
        };
        assert_eq!(shown(80), (vec![0, 1, 2, 3, 4, 5], true));
        assert_eq!(shown(70), (vec![0, 2, 3, 4, 5], true));
        assert_eq!(shown(60), (vec![0, 2, 3, 5], true));
        assert_eq!(shown(50), (vec![0, 2, 5], true));
        assert_eq!(shown(40), (vec![0, 2, 5], false));
        assert_eq!(shown(32), (vec![0, 2], false));
    }

    #[test]
    fn a_wide_terminal_shows_names_whole() {
        let columns = [column(Rank::Key, true, 90), column(Rank::Key, false, 8)];
        assert_eq!(fit(&columns, Some(1), 160), Fit { columns: vec![(0, 90), (1, 8)], bar: 16 });
        assert_eq!(fit(&columns, None, 60), Fit { columns: vec![(0, 50), (1, 8)], bar: 0 });
    }
}
