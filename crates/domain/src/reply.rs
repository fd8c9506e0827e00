//! A person's answer to a question.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    EventBody,
    form::{Form, FormFault, messages::Forms},
};

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A text.
    Words(String),
    /// The completed form.
    Values(Map<String, Value>),
    /// Declined; with the reason, if it was not the person's decision.
    Declined(Option<String>),
}

impl From<&str> for Reply {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl Reply {
    /// Converts the reply to the question's form, if it has one: text is parsed as values.
    ///
    /// # Errors
    /// The first invalid or unreadable value.
    pub fn fit(self, form: Option<&Form>) -> Result<Self, FormFault> {
        match (self, form) {
            (Self::Words(words), Some(form)) => form.read_words(&words).map(Self::Values),
            (Self::Values(values), Some(form)) => form.check(values).map(Self::Values),
            (Self::Values(_), None) => Err(FormFault {
                field: None,
                message: Forms::QuestionWithoutForm.into(),
            }),
            (reply, _) => Ok(reply),
        }
    }

    /// The event for it; `None` means that the question was not answered.
    #[must_use]
    pub fn answered(question: String, reply: Option<Self>) -> EventBody {
        let (answer, values, declined) = match reply {
            None => (None, None, false),
            Some(Self::Words(words)) => (Some(words), None, false),
            Some(Self::Values(values)) => (None, Some(values), false),
            Some(Self::Declined(why)) => (why, None, true),
        };
        EventBody::QuestionAnswered {
            question,
            answer,
            values,
            declined,
        }
    }

    /// The reply in this event.
    #[must_use]
    pub fn of_log(
        answer: Option<&String>,
        values: Option<&Map<String, Value>>,
        declined: bool,
    ) -> Option<Self> {
        match (answer, values) {
            (why, _) if declined => Some(Self::Declined(why.cloned())),
            (_, Some(values)) => Some(Self::Values(values.clone())),
            (Some(words), None) => Some(Self::Words(words.clone())),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_round_trip_through_the_log() {
        let values = Map::from_iter([("a".to_owned(), Value::from(1))]);
        for reply in [
            None,
            Some(Reply::Words("blue".into())),
            Some(Reply::Values(values)),
            Some(Reply::Values(Map::new())),
            Some(Reply::Declined(None)),
            Some(Reply::Declined(Some("nobody is there".into()))),
        ] {
            let EventBody::QuestionAnswered {
                answer,
                values,
                declined,
                ..
            } = Reply::answered("q1".into(), reply.clone())
            else {
                panic!("another event")
            };
            assert_eq!(
                Reply::of_log(answer.as_ref(), values.as_ref(), declined),
                reply
            );
        }
    }

    #[test]
    fn a_question_without_a_form_takes_text() {
        assert_eq!(
            Reply::Words("x".into()).fit(None),
            Ok(Reply::Words("x".into()))
        );
        assert!(Reply::Values(Map::new()).fit(None).is_err());
        assert_eq!(Reply::Declined(None).fit(None), Ok(Reply::Declined(None)));
    }
}
