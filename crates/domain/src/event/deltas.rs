//! Deltas: appendable pieces of items.

use super::EventBody;

impl EventBody {
    /// Whether it only extends an item whose finish event repeats the whole value. Only deltas may be sent before they
    /// are stored, and left out of a replay once their item has finished.
    #[must_use]
    pub fn is_delta(&self) -> bool {
        matches!(
            self,
            Self::TextDelta { .. } | Self::ReasoningDelta { .. } | Self::ToolArgumentsDelta { .. }
        )
    }

    /// The size of the event's long text, bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::TextDelta { delta: text, .. }
            | Self::ReasoningDelta { delta: text, .. }
            | Self::ToolArgumentsDelta { delta: text, .. }
            | Self::TextFinished { text, .. }
            | Self::ReasoningFinished { text, .. }
            | Self::ToolOutput { text, .. }
            | Self::ToolFinished { result: text, .. }
            | Self::AgentFinished { result: text, .. } => text.len(),
            _ => 0,
        }
    }

    /// Appends `next` to this delta if both belong to the same item.
    ///
    /// # Errors
    /// Returns `next` unchanged if the two are not deltas of one item.
    #[expect(
        clippy::result_large_err,
        reason = "the event is handed straight back, on the token path"
    )]
    pub fn merge_delta(&mut self, next: Self) -> Result<(), Self> {
        match (self, next) {
            (
                Self::TextDelta { item, delta },
                Self::TextDelta {
                    item: next_item,
                    delta: more,
                },
            )
            | (
                Self::ReasoningDelta { item, delta },
                Self::ReasoningDelta {
                    item: next_item,
                    delta: more,
                },
            )
            | (
                Self::ToolArgumentsDelta { call: item, delta },
                Self::ToolArgumentsDelta {
                    call: next_item,
                    delta: more,
                },
            ) if *item == next_item => {
                delta.push_str(&more);
                Ok(())
            }
            (_, next) => Err(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_only_deltas_of_one_item() {
        let delta = |item: &str, text: &str| EventBody::TextDelta {
            item: item.into(),
            delta: text.into(),
        };
        let mut first = delta("t1", "a");
        assert_eq!(first.merge_delta(delta("t1", "b")), Ok(()));
        assert_eq!(first, delta("t1", "ab"));
        assert_eq!(first.merge_delta(delta("t2", "c")), Err(delta("t2", "c")));
    }
}
