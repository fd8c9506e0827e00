//! References as pointers: what they name by an id, an anchor or an encoded pointer is named by its place in the schema.

use serde_json::{Map, Value};

use super::subschemas;

/// Makes each reference to something within the schema a pointer, `#/…`, and removes the ids and anchors, which nothing
/// needs then. Other references stay as they are.
pub(super) fn to_pointers(schema: &mut Value) {
    let mut addresses = Addresses::default();
    addresses.gather(schema, &Place::default());
    let pointers: Vec<(String, String)> = addresses
        .references
        .iter()
        .filter_map(|reference| {
            Some((
                reference.at.pointer.clone(),
                addresses.resolve(schema, reference)?,
            ))
        })
        .collect();
    for (at, pointer) in pointers {
        if let Some(Value::Object(fields)) = schema.pointer_mut(&at) {
            fields.insert(
                "$ref".to_owned(),
                Value::String(format!("#{}", encoded(&pointer))),
            );
        }
    }
    remove_names(schema);
}

/// Where a schema stands.
#[derive(Debug, Clone, Default)]
struct Place {
    pointer: String,
    /// The pointer of the schema with an id that it is in.
    resource: String,
    /// That id.
    base: String,
}

#[derive(Debug)]
struct Reference {
    at: Place,
    written: String,
}

#[derive(Debug, Default)]
struct Addresses {
    ids: Vec<(String, String)>,
    /// The resource, the name, and the pointer.
    anchors: Vec<(String, String, String)>,
    references: Vec<Reference>,
}

impl Addresses {
    fn gather(&mut self, schema: &Value, at: &Place) {
        let Value::Object(fields) = schema else {
            return;
        };
        let mut at = at.clone();
        let text = |keyword: &str| fields.get(keyword).and_then(Value::as_str);
        match text("$id").map(|id| id.split_once('#').unwrap_or((id, ""))) {
            None | Some(("", "")) => {}
            // As drafts 4 to 7 wrote anchors.
            Some(("", name)) => {
                self.anchors
                    .push((at.resource.clone(), name.to_owned(), at.pointer.clone()))
            }
            Some((id, _)) => {
                at.base = joined(&at.base, id);
                at.resource.clone_from(&at.pointer);
                self.ids.push((at.base.clone(), at.pointer.clone()));
            }
        }
        if let Some(name) = text("$anchor") {
            self.anchors
                .push((at.resource.clone(), name.to_owned(), at.pointer.clone()));
        }
        if let Some(written) = text("$ref") {
            self.references.push(Reference {
                at: at.clone(),
                written: written.to_owned(),
            });
        }
        subschemas::each(fields, |way, schema| {
            let pointer = way.iter().fold(at.pointer.clone(), |pointer, step| {
                format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
            });
            self.gather(
                schema,
                &Place {
                    pointer,
                    ..at.clone()
                },
            );
        });
    }

    fn resolve(&self, root: &Value, reference: &Reference) -> Option<String> {
        let Reference { at, written } = reference;
        let (id, fragment) = written.split_once('#').unwrap_or((written, ""));
        let resource = if id.is_empty() {
            at.resource.as_str()
        } else {
            let whole = joined(&at.base, id);
            let known = self
                .ids
                .iter()
                .find(|(known, _)| *known == whole || known == id);
            known.map(|(_, pointer)| pointer.as_str())?
        };
        let fragment = decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let named = self.anchors.iter().filter(|(_, name, _)| *name == fragment);
            return named
                .max_by_key(|(within, _, _)| within == resource)
                .map(|(_, _, pointer)| pointer.clone());
        }
        // Some write an id and mean the root nevertheless; and what was a list of `items` has moved.
        let moved = moved_tuple(&fragment);
        [
            format!("{resource}{fragment}"),
            fragment,
            format!("{resource}{moved}"),
        ]
        .into_iter()
        .find(|pointer| root.pointer(pointer).is_some())
    }
}

/// The pointer where each step from `items` to a number leads to `prefixItems`.
fn moved_tuple(pointer: &str) -> String {
    let mut steps: Vec<&str> = pointer.split('/').collect();
    for at in 1..steps.len() {
        if steps[at - 1] == "items" && steps[at].parse::<u32>().is_ok() {
            steps[at - 1] = "prefixItems";
        }
    }
    steps.join("/")
}

fn joined(base: &str, id: &str) -> String {
    let is_absolute = id
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|scheme| scheme.contains(':'));
    match base.rsplit_once('/') {
        Some((folder, _)) if !is_absolute && !id.starts_with('/') => format!("{folder}/{id}"),
        _ => id.to_owned(),
    }
}

fn remove_names(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    let is_name =
        |keyword: &str, value: &Value| matches!(keyword, "$id" | "$anchor") && value.is_string();
    remove(fields, is_name);
    subschemas::each_mut(fields, remove_names);
}

fn remove(fields: &mut Map<String, Value>, is_removed: impl Fn(&str, &Value) -> bool) {
    fields.retain(|keyword, value| !is_removed(keyword, value));
}

/// A fragment without its `%` codes.
pub(super) fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match (first, after) {
            (b'%', [high, low, ..]) => Some((
                char::from(*high).to_digit(16),
                char::from(*low).to_digit(16),
            )),
            _ => None,
        };
        if let Some((Some(high), Some(low))) = code
            && let Ok(byte) = u8::try_from(high * 16 + low)
        {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}

fn encoded(pointer: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/$!&'()*+,;=:@?".contains(&byte);
    let mut text = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if is_plain(byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(reference: &str, expected: &str) {
        let mut schema = json!({
            "$id": "https://x.example/schemas/root.json",
            "properties": {"it": {"$ref": reference}, "a/b": {"type": "string"}},
            "prefixItems": [{"type": "string"}],
            "$defs": {
                "My Type": {"type": "string"},
                "named": {"$anchor": "anchor", "type": "string"},
                "old": {"$id": "#old", "type": "string"},
                "own": {"$id": "own.json", "$defs": {"in": {"$anchor": "anchor", "type": "string"}}},
            },
        });
        to_pointers(&mut schema);
        assert_eq!(schema["properties"]["it"]["$ref"], expected, "{reference}");
        assert!(
            !schema.to_string().contains("\"$id\"") && !schema.to_string().contains("\"$anchor\"")
        );
    }

    #[test]
    fn references_are_pointers_into_the_schema() {
        check("#", "#");
        check("#/$defs/My%20Type", "#/$defs/My%20Type");
        check("#/$defs/My Type", "#/$defs/My%20Type");
        check("#/properties/a~1b", "#/properties/a~1b");
        check("#anchor", "#/$defs/named");
        check("#old", "#/$defs/old");
        check("own.json", "#/$defs/own");
        check(
            "https://x.example/schemas/own.json#/$defs/in",
            "#/$defs/own/$defs/in",
        );
        check("own.json#anchor", "#/$defs/own/$defs/in");
        check("root.json#/$defs/named", "#/$defs/named");
        check("#/items/0", "#/prefixItems/0");
        // Elsewhere, or nowhere.
        check("http://other.example/a.json", "http://other.example/a.json");
        check("#/$defs/none", "#/$defs/none");
    }
}
