//! Filters that models write as text: `author = Ada; year >= 2024`.

use serde_json::{Map, Value};
use store::MetadataCondition;

use super::{FilterProblem, add_field};

/// Operators, longer ones before their beginnings.
const OPERATORS: [(&str, &str); 9] = [
    (">=", "gte"),
    ("<=", "lte"),
    ("!=", "ne"),
    ("==", "eq"),
    ("=", "eq"),
    (">", "gt"),
    ("<", "lt"),
    (":", "eq"),
    (" contains ", "contains"),
];

/// Parses comparisons that are separated by semicolons, lines, `and` or `&`.
///
/// # Errors
/// What cannot be parsed.
pub(super) fn parse(text: &str) -> Result<Vec<MetadataCondition>, FilterProblem> {
    let mut found = Vec::new();
    for part in parts(text) {
        let (key, operator, value) = comparison(&part).ok_or(FilterProblem::Form)?;
        let mut test = Map::new();
        test.insert(operator.to_owned(), Value::from(value));
        add_field(key, &Value::Object(test), &mut found)?;
    }
    Ok(found)
}

/// The comparisons; what is in quotes is not separated.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let separator = match quote {
            Some(_) => None,
            None => [" and ", " AND ", "&&", "&", ";", "\n"]
                .into_iter()
                .find(|separator| rest.starts_with(separator)),
        };
        if let Some(separator) = separator {
            parts.push(String::new());
            rest = &rest[separator.len()..];
            continue;
        }
        match quote {
            Some(open) if open == char => quote = None,
            None if char == '"' => quote = Some(char),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
        rest = &rest[char.len_utf8()..];
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The key, the operator that comes first, and the value without quotes.
fn comparison(part: &str) -> Option<(&str, &'static str, &str)> {
    let places = OPERATORS
        .iter()
        .filter_map(|(written, operator)| Some((part.find(written)?, *written, *operator)));
    let (at, written, operator) =
        places.min_by_key(|(at, written, _)| (*at, usize::MAX - written.len()))?;
    let key = part[..at].trim().trim_matches(['"', '\'', '`']);
    let value = part[at + written.len()..].trim();
    let inside = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = inside('"').or_else(|| inside('\'')).unwrap_or(value);
    (!key.is_empty() && !value.is_empty()).then_some((key, operator, value))
}
