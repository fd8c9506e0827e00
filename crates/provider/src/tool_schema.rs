//! JSON Schemas of tool arguments: reads any draft, and adapts the schema to each server format. A server refuses a
//! whole request for one unsupported schema.

mod accepts;
mod addresses;
mod normal;
mod pattern;
mod plain;
mod references;
mod refusal;
mod subschemas;
pub(crate) mod subset;
mod whole;

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use accepts::Form;

pub use accepts::ToolFormat;
pub use normal::normal;
pub use pattern::retain_patterns;
pub use plain::plain;
pub use references::target;
pub use refusal::{Change, WithoutRefused, breaks_server, without_refused};

/// A JSON Schema with its text and its adapted versions, which are cached, as they are sent with every call. Clones
/// share everything.
#[derive(Clone)]
pub struct ToolSchema(Arc<Inner>);

struct Inner {
    value: Value,
    json: Box<RawValue>,
    lowered: [OnceLock<Lowered>; ToolFormat::ALL.len()],
}

struct Lowered {
    /// `None` if the schema is sent unchanged.
    json: Option<Box<RawValue>>,
    lost: Vec<&'static str>,
}

impl ToolSchema {
    /// Its JSON.
    #[must_use]
    pub fn json(&self) -> &RawValue {
        &self.0.json
    }

    /// A copy for changes.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.0.value.clone()
    }

    /// The JSON for a server of this format.
    #[must_use]
    pub fn json_for(&self, tool_format: ToolFormat) -> &RawValue {
        self.lowered(tool_format)
            .json
            .as_deref()
            .unwrap_or(&self.0.json)
    }

    /// The keywords that are not fully represented in this format, in order.
    #[must_use]
    pub fn lost_for(&self, tool_format: ToolFormat) -> &[&'static str] {
        &self.lowered(tool_format).lost
    }

    fn lowered(&self, tool_format: ToolFormat) -> &Lowered {
        self.0.lowered[tool_format as usize].get_or_init(|| {
            let (lowered, lost) = lower(&self.0.value, tool_format);
            let json = (lowered != self.0.value).then(|| raw(&lowered));
            Lowered { json, lost }
        })
    }
}

/// The schema of a tool's arguments for a server of this format, and the keywords that are not fully represented.
fn lower(schema: &Value, tool_format: ToolFormat) -> (Value, Vec<&'static str>) {
    let accepts = tool_format.accepts();
    let schema = normal(schema);
    match accepts.form {
        Form::Whole => {
            let (lowered, lost) = whole::lower(&schema, accepts);
            (lowered, lost.into_iter().collect())
        }
        Form::Subset => (subset::lower_parameters(&schema), subset::lost(&schema)),
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    // Serializing a value to memory cannot fail: its keys are texts.
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl From<Value> for ToolSchema {
    fn from(value: Value) -> Self {
        Self(Arc::new(Inner {
            json: raw(&value),
            value,
            lowered: Default::default(),
        }))
    }
}

impl Deref for ToolSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl std::fmt::Debug for ToolSchema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.json().get())
    }
}

impl PartialEq for ToolSchema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Serialize for ToolSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests;
