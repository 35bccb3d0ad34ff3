//! Device time by scope: the tree of [`Scopes`] as a table.

use super::operator::HOST_ALONE;
use crate::context::Need;
use crate::models::scopes::{ScopeRow, Scopes};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "scope",
    about: "scope, as in jit(f)/while/body",
    shown: Shown::InReport,
    needs: &[Need::of::<Scopes>()],
    make: |analysis, _| {
        let Scopes { rows, is_of_host } = analysis.get();
        // What stands in parentheses is no scope: work of which none is known.
        let is_known = |row: &ScopeRow| !row.name.trim_start().starts_with('(');
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| is_known(row).then(|| Subject::Scope(row.path.as_str().into())))
            .show(COLUMNS)
            .table("Scopes");
        table.footnotes.extend(is_of_host.then(|| HOST_ALONE.to_owned()));
        table
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: ScopeRow {
        tree: text Key "Scope",
            "scope, indented under the one it is in; scopes that contain only one other are on its line",
            |_, row| format!("{}{}", "  ".repeat(row.depth as usize), row.name);
        depth: count Detail Counted "Depth", "how deep the scope is nested", |_, row| row.depth;
        inclusive_ns: nanos Key Measured "Inclusive",
            "time of the scope and all scopes below it, measured: device work, or host operators if there is none",
            |_, row| row.inclusive_ns;
        inclusive_share: share Key Measured "Share",
            "inclusive time as a share of all scopes' time", |_, row| row.share;
        self_ns: nanos Measured "Self", "time of operations with exactly this path, measured", |_, row| row.self_ns;
        events: count Counted "Events",
            "kernels, copies and device operations, or host operators if there are none", |_, row| row.events;
        scope: text Detail "Path", "whole scope path; the last part is the primitive", |_, row| row.path.as_str();
    }
}
