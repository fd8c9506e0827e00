//! A person of a trusted front end: known here only by what the front end says.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A person of a front end. `Debug` shows the id alone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// What the front end knows the person by; `sub` in what it signs.
    #[serde(alias = "sub")]
    pub id: String,
    /// What the person is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The person's e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// What the person may do there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl fmt::Debug for Person {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Person")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
