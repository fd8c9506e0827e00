//! JSON answers: the requested format, and rewriting an answer to match it.

use std::fmt;

use domain::{Message, Problem, ProblemCode, Role, event::NoticeLevel};
use serde_json::Value;

use crate::{
    answer::Answer,
    answers::write_answer,
    messages,
    schemas::{faults, validator},
    step::{Shape, call_model},
    tool::Toolbox,
    turns::{AgentContext, Stop, check_budget},
};

/// Maximum number of further attempts if the model's first answer does not match.
const TRIES: u32 = 2;
/// The JSON format required of an answer.
pub struct AnswerForm {
    /// The type in chat completions: `json_object`, or `json_schema` with a schema.
    format: Value,
    schema: Option<jsonschema::Validator>,
}

impl AnswerForm {
    /// The format requested by a `response_format` of chat completions; `None` for plain text.
    ///
    /// # Errors
    /// A sentence for the caller if its schema cannot be used.
    pub fn new(format: Value) -> Result<Option<Self>, String> {
        if format["type"] == "text" {
            return Ok(None);
        }
        let schema = match format.pointer("/json_schema/schema") {
            Some(schema) => Some(validator(schema)?),
            None => None,
        };
        Ok(Some(Self { format, schema }))
    }

    /// The instruction for the model.
    pub(crate) fn instructions(&self) -> String {
        let form = match self.format.pointer("/json_schema/schema") {
            Some(schema) => format!("one JSON value that fits this JSON Schema: {schema}"),
            None => "one JSON object".to_owned(),
        };
        format!(
            "Your last answer, once you need no more tools, must be {form}\nWrite nothing before or after it."
        )
    }

    /// Validates a text against the format.
    ///
    /// # Errors
    /// Returns a description of the mismatch.
    pub(crate) fn check(&self, text: &str) -> Result<(), String> {
        self.read(text).map(drop)
    }

    /// Extracts the answer in the required format, dropping text that models like to put around it.
    fn read(&self, text: &str) -> Result<String, String> {
        let json = without_fence(text);
        let value: Value =
            serde_json::from_str(json).map_err(|error| format!("it is not valid JSON: {error}"))?;
        match &self.schema {
            Some(schema) => faults(schema, &value)?,
            None if value.is_object() => {}
            None => return Err("it is not a JSON object".to_owned()),
        }
        Ok(json.to_owned())
    }
}

impl fmt::Debug for AnswerForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerForm").field(&self.format).finish()
    }
}

/// The content of a code fence around the whole text, or else the text itself.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"));
    inside.map_or(text, |inside| {
        inside.strip_prefix("json").unwrap_or(inside).trim()
    })
}

/// Emits the answer in the requested format: as the model wrote it if it matches, else rewritten in another call, with
/// the server's structured output if it supports that.
pub(crate) async fn write_in_form(
    agent: &AgentContext,
    form: &AnswerForm,
    step: u32,
    mut messages: Vec<Message>,
    mut answer: Answer,
) -> Result<String, Stop> {
    let mut tries = 0;
    loop {
        let fault = match form.read(&answer.text) {
            Ok(json) => return write_answer(agent, step, &json, Some(form)).await,
            Err(fault) => fault,
        };
        if tries == TRIES {
            let problem = Problem::new(
                ProblemCode::ModelProtocol,
                messages::Runs::AnswerNeverInForm { fault },
            );
            return Err(Stop::Failed(problem));
        }
        tries += 1;
        check_budget(agent).await?;
        agent
            .notice(
                NoticeLevel::Info,
                messages::Runs::AnswerNotInForm {
                    fault: fault.clone(),
                },
            )
            .await;
        messages.push(answer.into_message());
        let again = format!(
            "This answer cannot be used: {fault}.\n{}",
            form.instructions()
        );
        messages.push(Message::text(Role::User, again));
        let shape = Shape {
            format: Some(&form.format),
            ..Shape::default()
        };
        let written = call_model(agent, &messages, &Toolbox::default(), shape).await;
        answer = written.map_err(|failed| Stop::because(failed.problem))?;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_schema(schema: Value) -> Result<Option<AnswerForm>, String> {
        AnswerForm::new(
            json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}),
        )
    }

    #[test]
    fn accepts_valid_answers_and_reports_errors() {
        let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        let form = with_schema(city).unwrap().unwrap();
        assert_eq!(
            form.read(" {\"city\": \"Rome\"}\n").unwrap(),
            r#"{"city": "Rome"}"#
        );
        assert_eq!(
            form.read("```json\n{\"city\": \"Rome\"}\n```").unwrap(),
            r#"{"city": "Rome"}"#
        );
        for (text, fault) in [
            ("Rome", "not valid JSON"),
            ("{\"city\": 5}", "/city: 5 is not of type \"string\""),
            ("{}", "\"city\" is a required property"),
        ] {
            let said = form.read(text).unwrap_err();
            assert!(said.contains(fault), "{said}");
        }
        let any = AnswerForm::new(json!({"type": "json_object"}))
            .unwrap()
            .unwrap();
        assert!(any.read("{}").is_ok());
        assert_eq!(any.read("[]").unwrap_err(), "it is not a JSON object");
        assert!(AnswerForm::new(json!({"type": "text"})).unwrap().is_none());
    }

    #[test]
    fn an_unusable_schema_is_reported() {
        let doubling = |levels: u32| {
            let mut defs = json!({"a0": {"type": "object"}});
            for level in 1..=levels {
                let before = json!({"$ref": format!("#/$defs/a{}", level - 1)});
                defs[format!("a{level}")] = json!({"allOf": [before, before]});
            }
            json!({"$defs": defs, "$ref": format!("#/$defs/a{levels}")})
        };
        assert!(with_schema(doubling(8)).is_ok());
        let recursive = json!({
            "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node",
        });
        assert!(with_schema(recursive).is_ok());
        let chain = |length: u32| {
            let mut defs = json!({"a0": {"type": "object"}});
            for level in 1..=length {
                defs[format!("a{level}")] =
                    json!({"not": {"$ref": format!("#/$defs/a{}", level - 1)}});
            }
            json!({"$defs": defs, "$ref": format!("#/$defs/a{length}")})
        };
        assert!(
            with_schema(chain(90)).unwrap().unwrap().read("{}").is_ok(),
            "the stack is deep enough"
        );
        for (schema, fault) in [
            (doubling(30), "more than 100000 places"),
            (chain(10_000), "more than 200 levels"),
            (
                json!({"$ref": "https://example.com/a.json"}),
                "does not name a place in it",
            ),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/none"}}}),
                "does not name a place in it",
            ),
            (json!({"type": "objekt"}), "objekt"),
            (json!({"properties": {"a": {"pattern": "("}}}), "("),
        ] {
            let said = with_schema(schema).map(|_| ()).unwrap_err();
            assert!(said.contains(fault), "{said}");
        }
    }
}
