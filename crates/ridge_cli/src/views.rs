//! Views on the command line: their names and what they are, from the registry.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use ridgeline::{Topic, View, view, views_of};
use std::ffi::OsStr;

/// Reads the name of a view of one topic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewOf(pub(crate) Topic);

impl ViewOf {
    fn names(self) -> Vec<PossibleValue> {
        let value = |view: &View| PossibleValue::new(view.id).help(sentence(view.about)).aliases(view.aliases);
        views_of(self.0).map(value).collect()
    }
}

impl TypedValueParser for ViewOf {
    type Value = &'static View;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Self::Value, clap::Error> {
        let name = PossibleValuesParser::new(self.names()).parse_ref(command, arg, value)?;
        Ok(view(self.0, &name).expect("the parser knows the names of the registry alone"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().into_iter()))
    }
}

/// `about` as a sentence's beginning.
fn sentence(about: &str) -> String {
    let mut letters = about.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
