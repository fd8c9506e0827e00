//! Validators for JSON Schemas from outside, with limits on their cost.

use std::collections::HashMap;

use llm::{normal_schema, retain_patterns, schema_target};
use serde_json::{Value, json};

/// Maximum number of nodes in a schema with all references expanded. Validation time grows with it, and thirty short
/// lines of references to references expand to a billion.
const MAX_PLACES: u64 = 100_000;
/// Maximum depth of a schema with all references expanded, since validation recurses on the stack.
const MAX_LEVELS: u32 = 200;

/// The validator of a schema from outside.
///
/// # Errors
/// With a sentence, if it is not a valid schema, has an external reference, or would take long to check.
pub(crate) fn validator(schema: &Value) -> Result<jsonschema::Validator, String> {
    of_normal(&normal_schema(schema))
}

fn of_normal(schema: &Value) -> Result<jsonschema::Validator, String> {
    let places = Places {
        root: schema,
        known: HashMap::new(),
        level: 0,
    }
    .count(schema)?;
    if places > MAX_PLACES {
        return Err(format!(
            "it has more than {MAX_PLACES} places once its references are written out"
        ));
    }
    jsonschema::validator_for(schema).map_err(|error| error.to_string().chars().take(300).collect())
}

/// The validator of a normalized tool schema from outside. Patterns that are invalid or specific to JavaScript are not
/// checked: the tool validates its arguments itself.
///
/// # Errors
/// See [`validator`].
pub(crate) fn tool_validator(schema: &Value) -> Result<jsonschema::Validator, String> {
    let mut checked = schema.clone();
    retain_patterns(&mut checked, &is_known);
    of_normal(&checked)
}

fn is_known(pattern: &str) -> bool {
    jsonschema::validator_for(&json!({ "pattern": pattern })).is_ok()
}

/// Counts the nodes of a schema with its references expanded. A recursive reference is counted once.
struct Places<'a> {
    root: &'a Value,
    /// The size at each reference seen so far; 0 while it is being counted.
    known: HashMap<&'a str, u64>,
    level: u32,
}

impl<'a> Places<'a> {
    fn count(&mut self, at: &'a Value) -> Result<u64, String> {
        let (children, reference): (Vec<&Value>, _) = match at {
            Value::Object(fields) => (
                fields.values().collect(),
                fields.get("$ref").and_then(Value::as_str),
            ),
            Value::Array(items) => (items.iter().collect(), None),
            _ => return Ok(1),
        };
        self.level += 1;
        if self.level > MAX_LEVELS {
            return Err(format!(
                "it has more than {MAX_LEVELS} levels once its references are written out"
            ));
        }
        let mut sum = match reference {
            Some(target) => self.count_target(target)?.saturating_add(1),
            None => 1,
        };
        for child in children {
            sum = self.count(child)?.saturating_add(sum);
        }
        self.level -= 1;
        Ok(sum)
    }

    fn count_target(&mut self, target: &'a str) -> Result<u64, String> {
        if let Some(known) = self.known.get(target) {
            return Ok(*known);
        }
        let found = schema_target(self.root, target).ok_or_else(|| {
            format!(
                "its reference {target:?} does not name a place in it, such as \"#/$defs/name\""
            )
        })?;
        self.known.insert(target, 0);
        let places = self.count(found)?;
        self.known.insert(target, places);
        Ok(places)
    }
}

/// Checks whether `value` matches. Returns the first three errors otherwise, each with its location.
pub(crate) fn faults(schema: &jsonschema::Validator, value: &Value) -> Result<(), String> {
    let faults = schema.iter_errors(value).take(3).map(|fault| {
        let place = fault.instance_path().to_string();
        let text: String = fault.to_string().chars().take(300).collect();
        if place.is_empty() {
            text
        } else {
            format!("{place}: {text}")
        }
    });
    let faults: Vec<String> = faults.collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("; "))
    }
}
