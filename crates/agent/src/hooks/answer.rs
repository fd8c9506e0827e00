//! Parses and validates a hook's answer.

use domain::event::{Decision, HookEvent};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum length of a reason, characters; longer ones are cut.
const MAX_REASON_CHARS: usize = 2_000;
/// Maximum length of a context, bytes: about 8,000 tokens.
const MAX_CONTEXT_BYTES: usize = 32_000;

/// The decision of a hook. Without any field, it allows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookAnswer {
    #[serde(default)]
    decision: HookDecision,
    reason: Option<String>,
    arguments: Option<Map<String, Value>>,
    result: Option<String>,
    answer: Option<String>,
    context: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HookDecision {
    #[default]
    Allow,
    Deny,
}

impl HookAnswer {
    /// Parses the JSON of an answer; an empty one allows.
    ///
    /// # Errors
    /// If it is not such an object, or has a field that this event does not support.
    pub fn read(event: HookEvent, text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let answer: Self = serde_json::from_str(text)
            .map_err(|error| format!("its answer cannot be read: {error}"))?;
        answer.check(event)
    }

    /// A denial.
    #[must_use]
    pub fn deny(reason: &str) -> Self {
        Self {
            decision: HookDecision::Deny,
            reason: Some(reason.to_owned()),
            ..Self::default()
        }
        .trimmed()
    }

    fn check(self, event: HookEvent) -> Result<Self, String> {
        for (field, is_there, is_taken) in [
            (
                "arguments",
                self.arguments.is_some(),
                event == HookEvent::BeforeTool,
            ),
            (
                "result",
                self.result.is_some(),
                event == HookEvent::AfterTool,
            ),
            (
                "answer",
                self.answer.is_some(),
                event == HookEvent::AfterAnswer,
            ),
            ("context", self.context.is_some(), takes_context(event)),
        ] {
            if is_there && !is_taken {
                return Err(format!(
                    "its answer has “{field}”, which {} does not take",
                    event.as_str()
                ));
            }
        }
        if self
            .context
            .as_ref()
            .is_some_and(|context| context.len() > MAX_CONTEXT_BYTES)
        {
            return Err(format!(
                "its context is longer than {MAX_CONTEXT_BYTES} bytes"
            ));
        }
        Ok(self.trimmed())
    }

    fn trimmed(self) -> Self {
        let reason = self.reason.map(|reason| {
            reason
                .trim()
                .chars()
                .take(MAX_REASON_CHARS)
                .collect::<String>()
        });
        let reason = reason.filter(|reason| !reason.is_empty());
        let context = self.context.filter(|context| !context.trim().is_empty());
        Self {
            reason,
            context,
            ..self
        }
    }

    /// Removes secrets, using `clean`, from the texts that reach the log and the model.
    #[must_use]
    pub fn redacted(self, clean: impl Fn(String) -> String) -> Self {
        Self {
            reason: self.reason.map(&clean),
            context: self.context.map(&clean),
            ..self
        }
    }

    pub(super) fn decision(&self) -> Decision {
        match self.decision {
            HookDecision::Allow => Decision::Allow,
            HookDecision::Deny => Decision::Deny,
        }
    }

    /// Its reason, its context, and its replacement for the arguments, the result or the answer.
    pub(super) fn into_parts(self) -> (Option<String>, Option<String>, Option<Value>) {
        let change = self
            .arguments
            .map(Value::Object)
            .or(self.result.or(self.answer).map(Value::String));
        (self.reason, self.context, change)
    }
}

/// Whether a model call follows that can receive context.
fn takes_context(event: HookEvent) -> bool {
    !matches!(
        event,
        HookEvent::AfterRun | HookEvent::BeforeAnswer | HookEvent::AfterAnswer
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: HookEvent, text: &str, expected: Result<Decision, &str>) {
        match (HookAnswer::read(event, text), expected) {
            (Ok(answer), Ok(decision)) => assert_eq!(answer.decision(), decision, "{text}"),
            (Err(error), Err(words)) => {
                assert!(error.contains(words), "{error:?} should say {words:?}")
            }
            (read, expected) => panic!("{text}: {read:?}, not {expected:?}"),
        }
    }

    #[test]
    fn answers_are_read_strictly() {
        use HookEvent::{AfterRun, AfterTool, BeforeAnswer, BeforeTool};
        check(AfterTool, " \n", Ok(Decision::Allow));
        check(AfterTool, "{}", Ok(Decision::Allow));
        check(
            BeforeTool,
            r#"{"decision":"deny","reason":"no"}"#,
            Ok(Decision::Deny),
        );
        check(
            BeforeTool,
            r#"{"arguments":{"path":"/a"}}"#,
            Ok(Decision::Allow),
        );
        // A typo must not become a permission.
        check(BeforeTool, r#"{"descision":"deny"}"#, Err("descision"));
        check(BeforeTool, r#"{"decision":"block"}"#, Err("block"));
        check(BeforeTool, r#"{"arguments":"ls"}"#, Err("cannot be read"));
        check(
            BeforeTool,
            r#"{"result":"x"}"#,
            Err("“result”, which before_tool does not take"),
        );
        check(
            AfterTool,
            r#"{"arguments":{}}"#,
            Err("“arguments”, which after_tool"),
        );
        check(
            BeforeAnswer,
            r#"{"context":"x"}"#,
            Err("“context”, which before_answer"),
        );
        check(AfterRun, "allow", Err("cannot be read"));
        let long = serde_json::json!({"context": "x".repeat(MAX_CONTEXT_BYTES + 1)}).to_string();
        check(BeforeTool, &long, Err("longer than 32000 bytes"));
    }

    #[test]
    fn long_reasons_are_cut_and_empty_ones_are_none() {
        let (reason, ..) = HookAnswer::deny(&"ё".repeat(3_000)).into_parts();
        assert_eq!(
            reason.map(|reason| reason.chars().count()),
            Some(MAX_REASON_CHARS)
        );
        assert_eq!(HookAnswer::deny("  ").into_parts().0, None);
    }
}
