//! Why a query has no answer, as it is printed.

use datafusion::common::{DataFusionError, SchemaError};
use ridgeline::{OpenError, did_you_mean, escape};
use std::fmt;
use std::io;
use std::path::Path;

/// Names of columns that an error lists.
const MOST_NAMES: usize = 40;

/// A message, and hints behind it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hints: Vec<String>,
    /// The exit status.
    pub(crate) code: u8,
    /// Whether it is only that nobody reads any more.
    pub(crate) is_broken_pipe: bool,
}

impl Failure {
    /// The query failed.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hints: Vec::new(), code: 1, is_broken_pipe: false }
    }

    /// What was typed makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { code: 2, ..Failure::new(message) }
    }

    /// The failure, with advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The capture cannot be read.
    pub(crate) fn of_open(error: &OpenError) -> Failure {
        let details = error.details();
        let failure = Failure::new(error.to_string());
        details.hints.iter().fold(failure, |failure, hint| failure.hint(hint.clone()))
    }

    /// The answer cannot be written.
    pub(crate) fn of_output(error: &io::Error) -> Failure {
        let is_broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Failure { is_broken_pipe, ..Failure::new(format!("cannot write the answer: {error}")) }
    }

    /// A dataset cannot be read or written.
    pub(crate) fn of_store(place: &Path, error: &DataFusionError) -> Failure {
        let DataFusionError::ObjectStore(store) = inner(error) else { return Failure::of_query(error) };
        let told = |what: &str| Failure::new(format!("cannot reach {}: {what}", place.display()));
        match &**store {
            object_store::Error::NotFound { .. } => told("it isn't there"),
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                told("access is denied").hint("credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or from the role of the machine")
            }
            other if other.to_string().contains("NoSuchBucket") => told("there is no such bucket"),
            other => told(&other.to_string())
                .hint("the service is chosen by AWS_REGION and AWS_ENDPOINT_URL; AWS_SKIP_SIGNATURE=true reads public buckets"),
        }
    }

    /// What DataFusion says.
    pub(crate) fn of_query(error: &DataFusionError) -> Failure {
        match inner(error) {
            DataFusionError::SchemaError(schema, _) => of_schema(schema),
            DataFusionError::SQL(parser, _) => Failure::new(format!("cannot parse the query: {parser}")),
            DataFusionError::ResourcesExhausted(message) => {
                Failure::new(format!("the query needs more memory than it may have: {message}"))
                    .hint("`--memory 8GiB` gives it more")
            }
            DataFusionError::Plan(message) | DataFusionError::Execution(message) => {
                Failure::new(of_executor(message).unwrap_or_else(|| message.clone()))
            }
            DataFusionError::NotImplemented(message) => Failure::new(format!("not supported: {message}")),
            other => Failure::new(other.strip_backtrace()),
        }
    }
}

/// What failed on an executor, without what its scheduler says around it: that is Rust's form of the error.
fn of_executor(message: &str) -> Option<String> {
    let (_, quoted) = message.strip_prefix("Job ")?.split_once(r#"Execution("#)?;
    let mut letters = quoted.strip_prefix('"')?.chars();
    let mut told = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(told),
            '\\' => told.extend(letters.next().map(|letter| if letter == 'n' { ' ' } else { letter })),
            letter => told.push(letter),
        }
    }
}

/// The error that others are wrapped around.
fn inner(error: &DataFusionError) -> &DataFusionError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => self::inner(inner),
        DataFusionError::Shared(inner_error) => inner(inner_error),
        DataFusionError::Collection(all) => all.first().map_or(error, inner),
        other => other,
    }
}

fn of_schema(error: &SchemaError) -> Failure {
    let SchemaError::FieldNotFound { field, valid_fields } = error else { return Failure::new(error.to_string()) };
    let mut names: Vec<&str> = valid_fields.iter().map(|column| column.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let failure = Failure::new(format!("unknown column `{}`", field.flat_name()));
    let failure = match did_you_mean(&field.name, names.iter().copied()) {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    names.truncate(MOST_NAMES);
    match names.is_empty() {
        true => failure,
        false => failure.hint(format!("there are {}{more}", names.join(", "))),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", escape::escape_controls_in_text(&self.message))?;
        self.hints.iter().try_for_each(|hint| writeln!(f, "  hint: {}", escape::escape_controls_in_text(hint)))
    }
}

#[cfg(test)]
mod tests {
    use super::of_executor;

    #[test]
    fn failures_of_executors_are_told_in_their_own_words() {
        let told = r#"Job a1 failed: Job failed due to stage 1 failed: Task failed due to runtime execution error: DataFusionError(Execution("cannot read the capture /a \"b\": no capture found"))"#;
        assert_eq!(of_executor(told).as_deref(), Some(r#"cannot read the capture /a "b": no capture found"#));
        assert_eq!(of_executor("Job a1 failed: no executors"), None);
        assert_eq!(of_executor("cannot read the capture /a: no capture found"), None);
    }
}
