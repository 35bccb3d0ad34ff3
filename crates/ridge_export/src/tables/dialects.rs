//! Views under the names that other tools' queries use.
//!
//! They are plain SQL that DataFusion and DuckDB both run, so that `ridgeline query` and a folder of Parquet files agree.

/// Views under the names of one tool.
#[derive(Debug)]
pub struct Dialect {
    /// The schema that they are in.
    pub name: &'static str,
    /// Whose names they are.
    pub about: &'static str,
    /// A `CREATE VIEW schema.name AS …;` for each.
    pub sql: &'static str,
}

impl Dialect {
    /// Its views: name, and the query behind it.
    pub fn views(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let views = self.sql.split("CREATE VIEW ").skip(1);
        views.filter_map(move |view| {
            let (name, query) = view.split_once(" AS\n").or_else(|| view.split_once(" AS "))?;
            let query = query.split(";\n").next().unwrap_or(query);
            Some((name.split_once('.')?.1, query))
        })
    }
}

/// Every dialect, in the order in which a name is looked for.
pub static DIALECTS: &[Dialect] = &[
    Dialect {
        name: "perfetto",
        about: "tables of Perfetto's trace processor",
        sql: include_str!("dialects/perfetto.sql"),
    },
    Dialect { name: "nsys", about: "tables of Nsight Systems' SQLite export", sql: include_str!("dialects/nsys.sql") },
    Dialect { name: "rocpd", about: "data views of AMD's rocpd", sql: include_str!("dialects/rocpd.sql") },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_is_found_in_its_text() {
        for dialect in DIALECTS {
            let count = dialect.sql.matches("CREATE VIEW ").count();
            let views: Vec<(&str, &str)> = dialect.views().collect();
            assert_eq!(views.len(), count, "{}", dialect.name);
            for (name, query) in views {
                assert!(query.starts_with("SELECT") && !name.contains(' '), "{name}: {query}");
            }
        }
    }
}
