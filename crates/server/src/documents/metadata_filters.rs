//! Parses filters by tags and metadata, in the forms in which models and clients write them. A value that cannot be parsed
//! is reported, never ignored.

mod written;

use serde_json::{Map, Value};
use store::{Bounds, MetadataCondition, MetadataTest, WantedRange, WantedValue};

use super::{
    filters::period_of,
    metadata::{TAG_SEPARATORS, VALUE_CHARS, key_of, tag_of},
};

/// Maximum number of tags and conditions of a filter.
const MAX_CONDITIONS: usize = 30;
/// Maximum number of values of a condition.
const MAX_VALUES: usize = 100;

/// Why a filter cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilterProblem {
    /// What should be tags is something else.
    Tags,
    /// The key is none.
    Key(String),
    /// The test of a key cannot be parsed.
    Test(String),
    /// `metadata` as a whole has no known form.
    Form,
    /// There are too many conditions.
    TooMany,
}

impl FilterProblem {
    /// A sentence for a model.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Tags => {
                "`tags` must be names of tags, such as \"hr\", [\"hr\", \"legal\"] for documents with both, or {\"any\": \
                 [\"hr\", \"legal\"]} for those with one of them."
                    .to_owned()
            }
            Self::Key(key) => format!("“{key}” is no key of metadata."),
            Self::Test(key) => format!(
                "The filter on “{key}” cannot be read. Use a value, a list of values, {{\"contains\": \"text\"}}, or \
                 {{\"from\": …, \"to\": …}} with numbers or dates such as \"2026-05-31\"."
            ),
            Self::Form => "`metadata` must be an object of keys and values, such as {\"author\": \"Ada\", \"created\": \
                           {\"from\": \"2026-01\"}}."
                .to_owned(),
            Self::TooMany => format!("A filter may have {MAX_CONDITIONS} conditions."),
        }
    }
}

/// Filters by tags as parsed from JSON.
#[derive(Debug, Default)]
pub(crate) struct TagFilters<'a> {
    /// Documents with all of these.
    pub(crate) all: Option<&'a Value>,
    /// Documents with one of these.
    pub(crate) any: Option<&'a Value>,
    /// Documents without these.
    pub(crate) none: Option<&'a Value>,
}

/// The conditions of filters by tags and metadata.
///
/// # Errors
/// What cannot be parsed.
pub(crate) fn conditions(
    tags: &TagFilters<'_>,
    metadata: &Value,
) -> Result<Vec<MetadataCondition>, FilterProblem> {
    let mut found = Vec::new();
    if let Some(all) = tags.all {
        add_tags(all, &mut found)?;
    }
    if let Some(any) = tags.any {
        found.extend(some(tag_list(any)?).map(MetadataCondition::Tag));
    }
    if let Some(none) = tags.none {
        found.extend(some(tag_list(none)?).map(MetadataCondition::NoTag));
    }
    add_metadata(metadata, &mut found)?;
    if found.len() > MAX_CONDITIONS {
        return Err(FilterProblem::TooMany);
    }
    Ok(found)
}

fn some(tags: Vec<String>) -> Option<Vec<String>> {
    Some(tags).filter(|tags| !tags.is_empty())
}

/// All of these tags, or an object that says whether any, all or none.
fn add_tags(tags: &Value, found: &mut Vec<MetadataCondition>) -> Result<(), FilterProblem> {
    let Value::Object(object) = tags else {
        let each = tag_list(tags)?.into_iter().map(|tag| vec![tag]);
        found.extend(each.map(MetadataCondition::Tag));
        return Ok(());
    };
    for (how, value) in object {
        let listed = tag_list(value)?;
        match how.trim_start_matches('$').to_ascii_lowercase().as_str() {
            _ if listed.is_empty() => {}
            "any" | "any_of" | "one_of" | "in" | "or" => found.push(MetadataCondition::Tag(listed)),
            "none" | "not" | "none_of" | "nin" | "not_in" | "without" | "ne" => {
                found.push(MetadataCondition::NoTag(listed));
            }
            "all" | "all_of" | "and" | "eq" | "contains" | "equals" => {
                let each = listed.into_iter().map(|tag| vec![tag]);
                found.extend(each.map(MetadataCondition::Tag));
            }
            _ => return Err(FilterProblem::Tags),
        }
    }
    Ok(())
}

/// Tags as a text with commas, or a list.
fn tag_list(tags: &Value) -> Result<Vec<String>, FilterProblem> {
    let texts: Vec<&str> = match tags {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(all) => {
            let texts = all.iter().map(Value::as_str).collect::<Option<_>>();
            texts.ok_or(FilterProblem::Tags)?
        }
        _ => return Err(FilterProblem::Tags),
    };
    let words = texts.iter().flat_map(|text| text.split(TAG_SEPARATORS));
    let words = words.filter(|word| !word.trim().is_empty());
    let found: Option<Vec<String>> = words.map(tag_of).collect();
    let found = found.ok_or(FilterProblem::Tags)?;
    if found.len() > MAX_CONDITIONS {
        return Err(FilterProblem::TooMany);
    }
    Ok(found)
}

fn add_metadata(metadata: &Value, found: &mut Vec<MetadataCondition>) -> Result<(), FilterProblem> {
    if found.len() > MAX_CONDITIONS {
        return Err(FilterProblem::TooMany);
    }
    match metadata {
        Value::Null => Ok(()),
        Value::String(text) => match text.trim() {
            "" => Ok(()),
            json if json.starts_with(['{', '[']) => {
                let parsed: Value = serde_json::from_str(json).map_err(|_| FilterProblem::Form)?;
                add_metadata(&parsed, found)
            }
            text => {
                found.extend(written::parse(text)?);
                Ok(())
            }
        },
        Value::Array(all) => all.iter().try_for_each(|one| match one {
            Value::Null | Value::Array(_) => Err(FilterProblem::Form),
            one => add_metadata(one, found),
        }),
        Value::Object(object) => add_object(object, found),
        _ => Err(FilterProblem::Form),
    }
}

/// `{"key": test}`, or a comparison that names its key: `{"key": "author", "type": "eq", "value": "Ada"}`, also in lists under
/// `filters`.
fn add_object(
    object: &Map<String, Value>,
    found: &mut Vec<MetadataCondition>,
) -> Result<(), FilterProblem> {
    let word = |names: &[&str]| {
        let value = names.iter().find_map(|name| object.get(*name));
        value.and_then(Value::as_str)
    };
    let operator = word(&["type", "op", "operator"]);
    if let Some(filters) = object.get("filters").filter(|it| it.is_array()) {
        return match operator.unwrap_or("and") {
            "and" => add_metadata(filters, found),
            "or" => add_either(filters, found),
            _ => Err(FilterProblem::Form),
        };
    }
    if let (Some(name), Some(value)) = (
        word(&["key", "field", "name"]),
        object.get("value").or_else(|| object.get("values")),
    ) && object.len() <= 3
    {
        let mut test = Map::new();
        test.insert(operator.unwrap_or("eq").to_owned(), value.clone());
        return add_field(name, &Value::Object(test), found);
    }
    for (name, test) in object {
        match name.as_str() {
            "$and" | "and" => add_metadata(test, found)?,
            "$or" | "or" => add_either(test, found)?,
            name => add_field(name, test, found)?,
        }
    }
    Ok(())
}

/// One of several equalities of the same key. Other alternatives are not supported.
fn add_either(filters: &Value, found: &mut Vec<MetadataCondition>) -> Result<(), FilterProblem> {
    let mut inner = Vec::new();
    add_metadata(filters, &mut inner)?;
    let mut merged: Option<MetadataCondition> = None;
    for condition in inner {
        merged = Some(match (merged, condition) {
            (None, first) => first,
            (Some(MetadataCondition::Tag(mut tags)), MetadataCondition::Tag(more)) => {
                tags.extend(more);
                MetadataCondition::Tag(tags)
            }
            (
                Some(MetadataCondition::Field(key, MetadataTest::OneOf(mut values))),
                MetadataCondition::Field(other, MetadataTest::OneOf(more)),
            ) if key == other => {
                values.extend(more);
                MetadataCondition::Field(key, MetadataTest::OneOf(values))
            }
            (_, MetadataCondition::Field(key, _) | MetadataCondition::NotField(key, _)) => {
                return Err(FilterProblem::Test(key));
            }
            _ => return Err(FilterProblem::Form),
        });
    }
    found.extend(merged);
    Ok(())
}

fn add_field(
    name: &str,
    test: &Value,
    found: &mut Vec<MetadataCondition>,
) -> Result<(), FilterProblem> {
    if matches!(name.trim().to_lowercase().as_str(), "tag" | "tags") {
        return add_tags(test, found);
    }
    let shown = || name.chars().take(60).collect::<String>();
    let key = key_of(name).ok_or_else(|| FilterProblem::Key(shown()))?;
    let wrong = || FilterProblem::Test(key.clone());
    match test {
        // A model that leaves a value empty does not filter by it.
        Value::Null => {}
        Value::String(text) if text.trim().is_empty() => {}
        Value::Array(all) if all.is_empty() => {}
        Value::Object(operators) if operators.is_empty() => return Err(wrong()),
        Value::Object(operators) => {
            let mut range = Range::default();
            for (operator, value) in operators {
                let operator = operator.trim().trim_start_matches('$').to_lowercase();
                if range.take(&operator, value).ok_or_else(wrong)? {
                    continue;
                }
                found.push(tested(&key, &operator, value).ok_or_else(wrong)?);
            }
            if range.is_any() {
                let range = range.finish().ok_or_else(wrong)?;
                found.push(MetadataCondition::Field(
                    key.clone(),
                    MetadataTest::Range(range),
                ));
            }
        }
        value => {
            let values = wanted_list(value).ok_or_else(wrong)?;
            found.push(MetadataCondition::Field(key, MetadataTest::OneOf(values)));
        }
    }
    if found.len() > MAX_CONDITIONS {
        return Err(FilterProblem::TooMany);
    }
    Ok(())
}

/// A test by an operator that is no limit of a range.
fn tested(key: &str, operator: &str, value: &Value) -> Option<MetadataCondition> {
    let key = key.to_owned();
    Some(match operator {
        "equals" | "equal" | "eq" | "=" | "==" | "is" | "value" | "in" | "one_of" | "any"
        | "any_of" => MetadataCondition::Field(key, MetadataTest::OneOf(wanted_list(value)?)),
        "not" | "ne" | "neq" | "!=" | "<>" | "not_equals" | "nin" | "not_in" | "is_not"
        | "none_of" => MetadataCondition::NotField(key, MetadataTest::OneOf(wanted_list(value)?)),
        "contains" | "includes" | "like" | "ilike" => {
            let part = value.as_str()?.trim().trim_matches('%');
            let is_part = !part.is_empty() && part.chars().count() <= VALUE_CHARS;
            let part = is_part.then(|| part.to_owned())?;
            MetadataCondition::Field(key, MetadataTest::Contains(part))
        }
        "exists" => match value.as_bool()? {
            true => MetadataCondition::Field(key, MetadataTest::Exists),
            false => MetadataCondition::NotField(key, MetadataTest::Exists),
        },
        _ => return None,
    })
}

fn wanted_list(value: &Value) -> Option<Vec<WantedValue>> {
    match value {
        Value::Array(all) if (1..=MAX_VALUES).contains(&all.len()) => {
            all.iter().map(wanted).collect()
        }
        one => Some(vec![wanted(one)?]),
    }
}

/// A value in all forms in which it may be stored.
fn wanted(value: &Value) -> Option<WantedValue> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(is) => is.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let is_text = !text.is_empty() && text.chars().count() <= VALUE_CHARS;
    is_text.then(|| WantedValue {
        number: number_of(&text),
        period: period_of(&text),
        text,
    })
}

fn number_of(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().ok()?;
    // Not `inf` and `nan`.
    text.contains(|char: char| char.is_ascii_digit())
        .then_some(number)
        .filter(|number| number.is_finite())
}

/// A range while its limits are read. A limit may be a number, a date, or both, such as `2024`.
#[derive(Default)]
struct Range {
    numbers: Bounds,
    dates: Bounds,
    is_number: Option<bool>,
    is_date: Option<bool>,
}

impl Range {
    /// Takes a limit; whether the operator is one. `None` if its value is invalid.
    fn take(&mut self, operator: &str, value: &Value) -> Option<bool> {
        let (is_from, is_strict) = match operator {
            "from" | "gte" | "ge" | ">=" | "min" | "since" | "start" => (true, false),
            "gt" | ">" | "after" => (true, true),
            "to" | "lte" | "le" | "<=" | "max" | "until" | "end" => (false, false),
            "lt" | "<" | "before" => (false, true),
            _ => return Some(false),
        };
        let value = match value {
            Value::Null => return Some(true),
            value => wanted(value)?,
        };
        self.is_number = Some(self.is_number.unwrap_or(true) && value.number.is_some());
        self.is_date = Some(self.is_date.unwrap_or(true) && value.period.is_some());
        #[expect(
            clippy::cast_precision_loss,
            reason = "milliseconds are exact for 280,000 years"
        )]
        let (number, date) = (
            value.number.unwrap_or_default(),
            value.period.map(|(first, behind)| {
                // The whole day, month or year belongs to a limit that is included.
                match is_from == is_strict {
                    true => behind as f64,
                    false => first as f64,
                }
            }),
        );
        let date = date.unwrap_or_default();
        if is_from {
            self.numbers.from = Some((number, is_strict));
            self.dates.from = Some((date, false));
        } else {
            self.numbers.until = Some((number, is_strict));
            self.dates.until = Some((date, true));
        }
        Some(true)
    }

    fn is_any(&self) -> bool {
        self.is_number.is_some()
    }

    /// `None` if the limits are neither all numbers nor all dates, or the range is empty.
    fn finish(self) -> Option<WantedRange> {
        let is_empty = |bounds: &Bounds| {
            let ends = bounds.from.zip(bounds.until);
            ends.is_some_and(|((from, _), (until, _))| from > until)
        };
        let kept = |is: Option<bool>, bounds: Bounds| {
            Some(bounds).filter(|bounds| is == Some(true) && !is_empty(bounds))
        };
        let range = WantedRange {
            numbers: kept(self.is_number, self.numbers),
            dates: kept(self.is_date, self.dates),
        };
        (range.numbers.is_some() || range.dates.is_some()).then_some(range)
    }
}

#[cfg(test)]
mod tests;
