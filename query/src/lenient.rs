//! What SQLite takes and DataFusion does not: bare columns beside aggregates, and names of results in WHERE.
//!
//! Queries for Nsight Systems' exports are full of both: `select s.value, count(*) … group by k.shortName`. They are rewritten
//! only where a query cannot be planned as it is. Of a bare column SQLite returns the value of any row; here it is the least,
//! so that an answer is the same every time.

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectItem, SetExpr, Statement as Sql, VisitMut, VisitorMut,
    visit_expressions, visit_expressions_mut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// `statement` with what SQLite allows made explicit; `None` where there is nothing of it.
pub(crate) fn explicit(statement: &Statement) -> Option<String> {
    let Statement::Statement(sql) = statement else { return None };
    let mut changed: Sql = sql.as_ref().clone();
    let mut visitor = Explicit { has_changed: false };
    // It breaks off nowhere.
    let _ = changed.visit(&mut visitor);
    visitor.has_changed.then(|| changed.to_string())
}

struct Explicit {
    has_changed: bool,
}

impl VisitorMut for Explicit {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = query.body.as_mut() {
            self.has_changed |= results_in_where(select) | bare_columns(select);
        }
        ControlFlow::Continue(())
    }
}

/// Puts the expressions of results in the place of their names in WHERE.
fn results_in_where(select: &mut Select) -> bool {
    let named: Vec<(Ident, Expr)> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } => Some((alias.clone(), expr.clone())),
            _ => None,
        })
        .collect();
    let Some(condition) = &mut select.selection else { return false };
    let mut has_changed = false;
    let _: ControlFlow<()> = visit_expressions_mut(condition, |expr| {
        if let Expr::Identifier(name) = expr
            && let Some((_, meant)) = named.iter().find(|(alias, _)| alias.value == name.value)
            // What only gives a column another name means the column, which may have the same name elsewhere.
            && !matches!(meant, Expr::Identifier(_))
        {
            *expr = Expr::Nested(Box::new(meant.clone()));
            has_changed = true;
        }
        ControlFlow::Continue(())
    });
    has_changed
}

/// Takes the least of columns that are neither grouped by nor aggregated.
fn bare_columns(select: &mut Select) -> bool {
    let GroupByExpr::Expressions(groups, _) = &select.group_by else { return false };
    if groups.is_empty() {
        return false;
    }
    let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
    let mut has_changed = false;
    for (at, item) in select.projection.iter_mut().enumerate() {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expr) => (expr.clone(), None),
            SelectItem::ExprWithAlias { expr, alias } => (expr.clone(), Some(alias.clone())),
            _ => continue,
        };
        let name = match (&alias, &expr) {
            (Some(alias), _) => Some(alias.clone()),
            (None, Expr::Identifier(name)) => Some(name.clone()),
            (None, Expr::CompoundIdentifier(names)) => names.last().cloned(),
            _ => None,
        };
        let is_grouped = groups.contains(&expr.to_string())
            || groups.contains(&(at + 1).to_string())
            || name.as_ref().is_some_and(|name| groups.contains(&name.to_string()));
        if is_grouped || !is_bare(&expr) {
            continue;
        }
        let (Some(least), Some(alias)) = (least(&expr), name) else { continue };
        *item = SelectItem::ExprWithAlias { expr: least, alias };
        has_changed = true;
    }
    has_changed
}

/// Whether an expression has a column and calls nothing, and so aggregates nothing.
fn is_bare(expr: &Expr) -> bool {
    let (mut has_column, mut has_call) = (false, false);
    let _: ControlFlow<()> = visit_expressions(expr, |part| {
        has_column |= matches!(part, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        has_call |= matches!(part, Expr::Function(_) | Expr::Subquery(_));
        ControlFlow::Continue(())
    });
    has_column && !has_call
}

fn least(expr: &Expr) -> Option<Expr> {
    Parser::new(&GenericDialect {}).try_with_sql(&format!("min({expr})")).ok()?.parse_expr().ok()
}
