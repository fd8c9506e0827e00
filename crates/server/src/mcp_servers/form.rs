//! What a server asks a person in the middle of a call: its form, field by field, as questions of the run.

mod field;

use agent::ToolContext;
use mcp::{Question, Reply};
use serde_json::{Map, Value};

use field::{DECLINE, Field, Said};

/// Most fields of a form; one with more is declined.
const MOST_FIELDS: usize = 40;
/// How often one field is asked for.
const TRIES: usize = 3;

/// Asks the person and tells the server what they said.
pub(super) async fn ask(server: &str, mut question: Question, context: &ToolContext) {
    let reply = match fields(&question.schema) {
        Some(fields) => {
            let message = format!("{server}: {}", question.message);
            fill_in(&message, &fields, &mut question, context).await
        }
        None => {
            tracing::warn!(server, "the server asks for something that cannot be asked");
            Reply::Decline
        }
    };
    question.reply(reply);
}

/// The form's fields in order; nothing where they cannot be asked for.
fn fields(schema: &Value) -> Option<Vec<Field>> {
    let none = Map::new();
    let properties = schema.get("properties").map_or(Some(&none), Value::as_object)?;
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let field =
        |(name, schema): (&String, &Value)| Field::read(name, schema, required.iter().any(|r| r == name));
    (properties.len() <= MOST_FIELDS).then(|| properties.iter().map(field).collect())?
}

async fn fill_in(message: &str, fields: &[Field], question: &mut Question, context: &ToolContext) -> Reply {
    if fields.is_empty() {
        let options = vec!["OK".to_owned(), DECLINE.to_owned()];
        return match context.ask(message.to_owned(), options, question.withdrawn()).await {
            None => Reply::Cancel,
            Some(answer) if field::is(&answer, DECLINE) => Reply::Decline,
            Some(_) => Reply::Accept(Map::new()),
        };
    }
    let mut filled = Map::new();
    for (number, field) in fields.iter().enumerate() {
        let place =
            if fields.len() > 1 { format!(" ({} of {})", number + 1, fields.len()) } else { String::new() };
        let mut text = format!("{message}{place}\n\n{}", field.words());
        let mut tries = 0;
        loop {
            let Some(answer) = context.ask(text, field.options(), question.withdrawn()).await else {
                return Reply::Cancel;
            };
            tries += 1;
            match field.parse(&answer) {
                Ok(Said::Value(value)) => _ = filled.insert(field.name.clone(), value),
                Ok(Said::Nothing) => {}
                Ok(Said::Decline) => return Reply::Decline,
                Err(_) if tries == TRIES => return Reply::Cancel,
                Err(fault) => {
                    // The number makes it another question than the one before.
                    text = format!("{fault} (try {} of {TRIES})\n\n{}", tries + 1, field.words());
                    continue;
                }
            }
            break;
        }
    }
    Reply::Accept(filled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_flat_forms_are_asked() {
        let names = |schema: Value| {
            fields(&schema).map(|fields| fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>())
        };
        let flat = json!({ "properties": { "b": { "type": "string" }, "a": { "type": "integer" } }, "required": ["a"] });
        assert_eq!(names(flat.clone()), Some(vec!["b".into(), "a".into()]));
        assert!(fields(&flat).unwrap()[1].required);
        assert_eq!(names(json!({})), Some(Vec::new()));
        assert_eq!(names(json!({ "properties": 7 })), None);
        assert_eq!(names(json!({ "properties": { "a": { "type": "object" } } })), None);
        let many: Map<String, Value> =
            (0..100).map(|n| (n.to_string(), json!({ "type": "string" }))).collect();
        assert_eq!(names(json!({ "properties": many })), None);
    }
}
