//! Puts together what the provider of a model wants back with an answer: from the events of the answer, whether they are
//! just being emitted or stand in the log of a run that goes on.

use domain::{EventBody, Part, Provenance, StoredBlock, event::ProviderData};
use serde_json::Value;

/// The blocks of an answer, in their order.
#[derive(Debug, Default, Clone)]
pub(crate) struct Blocks {
    provider: Option<String>,
    /// Beside the item of the log that each is about.
    blocks: Vec<(Option<String>, StoredBlock)>,
    /// The texts of the answer, in their order.
    texts: Vec<String>,
    /// Data that came before its item was whole.
    early: Vec<(String, Value)>,
}

impl Blocks {
    /// Takes note of an event of the answer.
    pub(crate) fn push(&mut self, body: &EventBody) {
        match body {
            EventBody::ReasoningFinished { item, text, .. } => {
                self.add(item, StoredBlock::Reasoning { text: text.clone(), data: None });
            }
            EventBody::TextFinished { item, text, .. } => {
                self.texts.push(text.clone());
                self.add(item, StoredBlock::Text { data: None });
            }
            EventBody::ToolRequested { call, .. } => {
                self.add(call, StoredBlock::Call { id: String::new(), data: None });
            }
            EventBody::ProviderData(data) => self.add_data(data),
            _ => {}
        }
    }

    /// Whether a block of the provider's own is among them.
    pub(crate) fn has_own(&self) -> bool {
        self.blocks.iter().any(|(_, block)| matches!(block, StoredBlock::Other { .. }))
    }

    fn add(&mut self, item: &str, mut block: StoredBlock) {
        if let Some(at) = self.early.iter().position(|(of, _)| of == item) {
            set_data(&mut block, self.early.remove(at).1);
        }
        self.blocks.push((Some(item.to_owned()), block));
    }

    fn add_data(&mut self, ProviderData { item, reasoning, provider, data }: &ProviderData) {
        self.provider = Some(provider.clone());
        let data = data.clone();
        let Some(item) = item else {
            let block = match reasoning {
                true => StoredBlock::Reasoning { text: String::new(), data: Some(data) },
                false => StoredBlock::Other { data },
            };
            return self.blocks.push((None, block));
        };
        match self.blocks.iter_mut().rfind(|(of, _)| of.as_ref() == Some(item)) {
            Some((_, block)) => set_data(block, data),
            None => self.early.push((item.clone(), data)),
        }
    }

    /// The content of the assistant's message with this text, and what its provider wants back; nothing where the
    /// provider has said nothing of the kind. `id_of` gives a call's id in the message.
    pub(crate) fn finish(
        self,
        text: String,
        id_of: impl Fn(&str) -> Option<String>,
    ) -> (Vec<Part>, Option<Box<Provenance>>) {
        let whole = |text: String| match text.is_empty() {
            true => Vec::new(),
            false => vec![Part::Text { text }],
        };
        let Some(provider) = self.provider else { return (whole(text), None) };
        // Hooks may have changed it: then its blocks say nothing of it.
        let content = match self.texts.concat() == text {
            true => self.texts.into_iter().map(|text| Part::Text { text }).collect(),
            false => whole(text),
        };
        let block = |(item, block): (Option<String>, StoredBlock)| match block {
            StoredBlock::Reasoning { data: None, .. } => None,
            StoredBlock::Call { data, .. } => {
                item.and_then(|item| id_of(&item)).map(|id| StoredBlock::Call { id, data })
            }
            block => Some(block),
        };
        let blocks = self.blocks.into_iter().filter_map(block).collect();
        (content, Some(Box::new(Provenance { provider, blocks })))
    }
}

fn set_data(block: &mut StoredBlock, more: Value) {
    match block {
        StoredBlock::Reasoning { data, .. } | StoredBlock::Text { data } | StoredBlock::Call { data, .. } => {
            *data = Some(more);
        }
        StoredBlock::Other { data } => *data = more,
    }
}
