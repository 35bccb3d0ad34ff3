//! Device time by kind of work.

use crate::context::partition::WorkRow;
use crate::context::{Durations, Need};
use crate::models::device_time::Categories;
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "category",
    about: "kind of operation",
    shown: Shown::InReport,
    needs: &[Need::of::<Categories>(), Need::of::<Durations>()],
    make: |analysis, _| {
        let Categories(rows) = analysis.get();
        Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Category(row.key.as_str().into())))
            .show(NAMES)
            .time()
            .table("Categories")
    },
    ..View::of(Topic::Time)
};

columns! {
    NAMES: WorkRow<String> {
        category: text Key "Category", "kind of work", |_, row| row.key.as_str();
    }
}
