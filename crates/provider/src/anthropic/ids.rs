//! Tool call ids that Anthropic accepts: `[a-zA-Z0-9_-]`, unique within a conversation.

use std::{borrow::Cow, collections::HashSet};

/// The calls of a conversation and the ids that are sent for them.
#[derive(Debug, Default)]
pub(crate) struct Ids<'a> {
    used: HashSet<Cow<'a, str>>,
    /// Calls of the last turn without a result so far: the id in the conversation, and the id that is sent.
    waiting: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Ids<'a> {
    /// The id for a new call.
    pub(crate) fn call(&mut self, id: &'a str) -> Cow<'a, str> {
        let plain = sanitized(id);
        let mut sent = plain.clone();
        let mut number = 2;
        while self.used.contains(&sent) {
            sent = Cow::Owned(format!("{plain}_{number}"));
            number += 1;
        }
        self.used.insert(sent.clone());
        self.waiting.push((id, sent.clone()));
        sent
    }

    /// The id for the result of a call of the last turn; `None` if no call of this id is pending.
    pub(crate) fn result(&mut self, id: &str) -> Option<Cow<'a, str>> {
        let at = self.waiting.iter().position(|(call, _)| *call == id)?;
        Some(self.waiting.remove(at).1)
    }

    /// The calls that will get no result; they are removed.
    pub(crate) fn without_result(&mut self) -> impl Iterator<Item = Cow<'a, str>> {
        std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|(_, sent)| sent)
    }
}

fn sanitized(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match id {
        "" => Cow::Borrowed("call"),
        id if id.chars().all(fits) => Cow::Borrowed(id),
        id => Cow::Owned(id.chars().map(|c| if fits(c) { c } else { '_' }).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_and_repeated_ids_are_mapped_for_call_and_result() {
        let mut ids = Ids::default();
        let calls = ["functions.get:0", "functions_get_0", "", "toolu_1"]
            .map(|id| ids.call(id).into_owned());
        assert_eq!(
            calls,
            ["functions_get_0", "functions_get_0_2", "call", "toolu_1"]
        );
        assert_eq!(
            ids.result("functions_get_0").as_deref(),
            Some("functions_get_0_2")
        );
        assert_eq!(
            ids.result("functions.get:0").as_deref(),
            Some("functions_get_0")
        );
        assert_eq!(ids.result("functions.get:0"), None, "it has its result");
        assert_eq!(
            ids.without_result().collect::<Vec<_>>(),
            ["call", "toolu_1"]
        );
        assert_eq!(ids.call("toolu_1"), "toolu_1_2");
        assert_eq!(
            ids.result("toolu_1").as_deref(),
            Some("toolu_1_2"),
            "of the last turn"
        );
    }
}
