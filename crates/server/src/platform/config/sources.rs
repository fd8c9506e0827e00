//! Where the values of settings come from, each source with precedence over those before it.

use std::{collections::BTreeMap, fmt};

use toml::{Table, Value};

use super::{Environment, Layer, layers};

/// The sources as they were read, before merging.
#[derive(Clone, Default)]
pub(super) struct Sources {
    pub(super) defaults: Table,
    pub(super) web_app: Table,
    pub(super) file: Table,
    pub(super) environment: Table,
    pub(super) flags: Table,
    /// All environment variables, since settings may refer to any of them.
    pub(super) variables: Environment,
}

/// Without the values, some of which are secret.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}

impl Sources {
    pub(super) fn merged(&self) -> Table {
        let mut merged = self.defaults.clone();
        for source in [&self.web_app, &self.file, &self.environment, &self.flags] {
            layers::merge(&mut merged, source.clone());
        }
        merged
    }

    /// The source of a setting's value.
    pub(super) fn origin(&self, path: &[&str]) -> Layer {
        let sources = [
            (&self.flags, Layer::Flag),
            (&self.environment, Layer::Environment),
            (&self.file, Layer::File),
            (&self.web_app, Layer::WebApp),
        ];
        let set = sources
            .into_iter()
            .find(|(table, _)| at(table, path).is_some());
        set.map_or(Layer::Default, |(_, layer)| layer)
    }

    /// Replaces the values of the web app, by the names of the settings.
    pub(super) fn set_web_app(&mut self, values: &BTreeMap<String, Value>) {
        self.web_app = Table::new();
        for (name, value) in values {
            match name.split_once('.') {
                None => {
                    self.web_app.insert(name.clone(), value.clone());
                }
                Some((section, name)) => {
                    let section = self
                        .web_app
                        .entry(section)
                        .or_insert_with(|| Table::new().into());
                    if let Value::Table(section) = section {
                        section.insert(name.to_owned(), value.clone());
                    }
                }
            }
        }
    }
}

/// The value at a path of sections and a name.
pub(super) fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (last, sections) = path.split_last()?;
    let section = sections
        .iter()
        .try_fold(table, |table, section| table.get(*section)?.as_table())?;
    section.get(*last)
}
