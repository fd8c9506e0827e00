//! Collects the data that has to be sent back to the provider of an answer from the answer's events, either live or
//! from the log of a resumed run.

use domain::{EventBody, Part, Provenance, StoredBlock, event::ProviderData};
use serde_json::Value;

/// The blocks of an answer, in order.
#[derive(Debug, Default, Clone)]
pub(crate) struct Blocks {
    provider: Option<String>,
    /// Each block with its item in the log.
    blocks: Vec<(Option<String>, StoredBlock)>,
    /// The text of each text block, in order.
    texts: Vec<String>,
    /// Data that ends a part of a text that is still being written: the item, the byte offset and the data.
    early: Vec<(String, usize, Value)>,
}

impl Blocks {
    /// Adds an event of the answer.
    pub(crate) fn push(&mut self, body: &EventBody) {
        match body {
            EventBody::ReasoningFinished { item, text, .. } => {
                self.blocks.push((
                    Some(item.clone()),
                    StoredBlock::Reasoning {
                        text: text.clone(),
                        data: None,
                    },
                ));
            }
            // A text is placed where it begins, since it may end after later items.
            EventBody::TextStarted { item } => {
                self.blocks
                    .push((Some(item.clone()), StoredBlock::Text { data: None }));
            }
            EventBody::TextFinished {
                reasoning: true, ..
            } => self.drop_texts(),
            EventBody::TextFinished { item, text, .. } => self.add_text(item, text),
            EventBody::ToolRequested {
                call,
                by_provider: false,
                ..
            } => {
                self.blocks.push((
                    Some(call.clone()),
                    StoredBlock::Call {
                        id: String::new(),
                        data: None,
                    },
                ));
            }
            EventBody::ProviderData(data) => self.add_data(data),
            _ => {}
        }
    }

    /// Whether it has a block in the provider's own format, such as a server-side tool call.
    pub(crate) fn has_own(&self) -> bool {
        self.blocks
            .iter()
            .any(|(_, block)| matches!(block, StoredBlock::Other { .. }))
    }

    /// Drops all text so far, which turned out to be reasoning.
    fn drop_texts(&mut self) {
        self.blocks
            .retain(|(_, block)| !matches!(block, StoredBlock::Text { .. }));
        self.texts.clear();
        self.early.clear();
    }

    /// Adds a text, split into the parts that the provider sent.
    fn add_text(&mut self, item: &str, text: &str) {
        let (mine, others) = std::mem::take(&mut self.early)
            .into_iter()
            .partition(|(of, ..)| of == item);
        self.early = others;
        let mut rest = text;
        let mine: Vec<(String, usize, Value)> = mine;
        let mut parts = Vec::new();
        for (_, at, data) in mine {
            let length = at.saturating_sub(text.len() - rest.len());
            let (head, tail) = rest.split_at(rest.floor_char_boundary(length));
            parts.push((head, Some(data)));
            rest = tail;
        }
        if !rest.is_empty() {
            parts.push((rest, None));
        }
        self.texts
            .extend(parts.iter().map(|(text, _)| (*text).to_owned()));
        let parts = parts
            .into_iter()
            .map(|(_, data)| (None, StoredBlock::Text { data }));
        let place = self.blocks.iter().position(|(of, block)| {
            of.as_deref() == Some(item) && matches!(block, StoredBlock::Text { .. })
        });
        match place {
            Some(at) => drop(self.blocks.splice(at..=at, parts)),
            None => self.blocks.extend(parts),
        }
    }

    fn add_data(
        &mut self,
        ProviderData {
            item,
            reasoning,
            at,
            provider,
            data,
        }: &ProviderData,
    ) {
        self.provider = Some(provider.clone());
        let data = data.clone();
        let block = match (item, at) {
            (Some(item), Some(at)) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                return self.early.push((item.clone(), at, data));
            }
            (Some(item), None) => {
                let known = self
                    .blocks
                    .iter_mut()
                    .rfind(|(of, _)| of.as_ref() == Some(item));
                return known.map_or((), |(_, block)| set_data(block, data));
            }
            (None, _) if *reasoning => StoredBlock::Reasoning {
                text: String::new(),
                data: Some(data),
            },
            (None, _) => StoredBlock::Other { data },
        };
        self.blocks.push((None, block));
    }

    /// The content of the assistant message with this text, and its provenance; `None` if the provider sent no data.
    /// `id_of` maps an item to the id of a call in the message.
    pub(crate) fn finish(
        self,
        text: String,
        id_of: impl Fn(&str) -> Option<String>,
    ) -> (Vec<Part>, Option<Box<Provenance>>) {
        let whole = |text: String| match text.is_empty() {
            true => Vec::new(),
            false => vec![Part::Text { text }],
        };
        let Some(provider) = self.provider else {
            return (whole(text), None);
        };
        // If hooks have changed the text, its parts no longer match.
        let content = match self.texts.concat() == text {
            true => self
                .texts
                .into_iter()
                .map(|text| Part::Text { text })
                .collect(),
            false => whole(text),
        };
        let block = |(item, block): (Option<String>, StoredBlock)| match block {
            StoredBlock::Reasoning { data: None, .. } => None,
            // An unfinished text.
            StoredBlock::Text { .. } if item.is_some() => None,
            StoredBlock::Call { data, .. } => item
                .and_then(|item| id_of(&item))
                .map(|id| StoredBlock::Call { id, data }),
            block => Some(block),
        };
        let blocks = self.blocks.into_iter().filter_map(block).collect();
        (content, Some(Box::new(Provenance { provider, blocks })))
    }
}

fn set_data(block: &mut StoredBlock, more: Value) {
    match block {
        StoredBlock::Reasoning { data, .. }
        | StoredBlock::Text { data }
        | StoredBlock::Call { data, .. } => {
            *data = Some(more);
        }
        StoredBlock::Other { data } => *data = more,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(item: Option<&str>, at: Option<u64>, data: Value) -> EventBody {
        let item = item.map(str::to_owned);
        EventBody::ProviderData(ProviderData {
            item,
            reasoning: false,
            at,
            provider: "p".to_owned(),
            data,
        })
    }

    fn text(item: &str, text: &str) -> EventBody {
        EventBody::TextFinished {
            item: item.to_owned(),
            text: text.to_owned(),
            answer: true,
            reasoning: false,
        }
    }

    #[test]
    fn a_text_is_placed_at_its_beginning() {
        let mut blocks = Blocks::default();
        let started = |item: &str| EventBody::TextStarted {
            item: item.to_owned(),
        };
        let thought = EventBody::ReasoningFinished {
            item: "r1".to_owned(),
            text: "Hm.".to_owned(),
            duration_ms: 1,
        };
        let signature = data(Some("r1"), None, json!("s"));
        for body in [
            started("t1"),
            thought,
            signature,
            started("t2"),
            text("t1", "a"),
            text("t2", "b"),
            started("t3"),
        ] {
            blocks.push(&body);
        }
        let (content, provenance) = blocks.finish("ab".to_owned(), |_| None);
        assert_eq!(content.len(), 2);
        let kinds = provenance.unwrap().blocks;
        assert!(
            matches!(
                &kinds[..],
                [
                    StoredBlock::Text { .. },
                    StoredBlock::Reasoning { .. },
                    StoredBlock::Text { .. }
                ]
            ),
            "{kinds:?}"
        );
    }

    #[test]
    fn a_text_is_split_where_its_provider_splits_it() {
        let mut blocks = Blocks::default();
        for body in [
            data(Some("t1"), Some(3), json!(1)),
            data(Some("t1"), Some(3), json!(2)),
            data(Some("t1"), Some(8), json!(3)),
            text("t1", "It is so."),
        ] {
            blocks.push(&body);
        }
        let (content, provenance) = blocks.finish("It is so.".to_owned(), |_| None);
        let texts: Vec<&str> = content.iter().filter_map(Part::as_text).collect();
        assert_eq!(texts, ["It ", "", "is so", "."]);
        let blocks = provenance.unwrap().blocks;
        let with = |data: Option<Value>| StoredBlock::Text { data };
        assert_eq!(
            blocks,
            [
                with(Some(json!(1))),
                with(Some(json!(2))),
                with(Some(json!(3))),
                with(None)
            ]
        );
    }

    #[test]
    fn a_text_that_was_changed_is_whole() {
        let mut blocks = Blocks::default();
        blocks.push(&data(Some("t1"), Some(2), json!(1)));
        blocks.push(&text("t1", "It is so."));
        let (content, _) = blocks.finish("It was so.".to_owned(), |_| None);
        assert_eq!(
            content,
            [Part::Text {
                text: "It was so.".to_owned()
            }]
        );
    }

    #[test]
    fn texts_that_were_reasoning_are_left_out() {
        let mut blocks = Blocks::default();
        blocks.push(&text("t1", "Hm. "));
        blocks.push(&data(Some("t2"), Some(2), json!(1)));
        blocks.push(&EventBody::TextFinished {
            item: "t2".to_owned(),
            text: "So.".to_owned(),
            answer: false,
            reasoning: true,
        });
        blocks.push(&data(Some("t3"), Some(3), json!(2)));
        blocks.push(&text("t3", "Yes"));
        let (content, provenance) = blocks.finish("Yes".to_owned(), |_| None);
        assert_eq!(
            content,
            [Part::Text {
                text: "Yes".to_owned()
            }]
        );
        assert_eq!(
            provenance.unwrap().blocks,
            [StoredBlock::Text {
                data: Some(json!(2))
            }]
        );
    }

    #[test]
    fn without_provider_data_there_are_no_blocks() {
        let mut blocks = Blocks::default();
        blocks.push(&text("t1", "It is so."));
        assert_eq!(blocks.finish(String::new(), |_| None), (Vec::new(), None));
    }
}
