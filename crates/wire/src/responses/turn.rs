//! Collects consecutive items of an assistant, with the provider's opaque data.

use domain::{Message, Provenance, Role, StoredBlock, ToolCall};

use crate::sealed::SealedBlock;

/// Items of an assistant, as they come.
#[derive(Default)]
pub(super) struct Turn {
    messages: Vec<Message>,
    /// The first provider with sealed data; data of others is left out.
    provider: Option<String>,
    blocks: Vec<StoredBlock>,
}

impl Turn {
    /// A message of the assistant.
    pub(super) fn said(&mut self, message: Message) {
        self.blocks.extend(
            message
                .content
                .iter()
                .map(|_| StoredBlock::Text { data: None }),
        );
        self.messages.push(message);
    }

    /// A call, which belongs to the text before it.
    pub(super) fn called(&mut self, call: ToolCall) {
        if self.data_of_call(&call.id).is_none() {
            self.blocks.push(StoredBlock::Call {
                id: call.id.clone(),
                data: None,
            });
        }
        match self.messages.last_mut() {
            Some(last) => last.tool_calls.push(call),
            None => self.messages.push(Message {
                tool_calls: vec![call],
                ..Message::of(Role::Assistant, Vec::new())
            }),
        }
    }

    /// The provider's opaque data.
    pub(super) fn sealed(&mut self, SealedBlock { provider, block }: SealedBlock) {
        if *self.provider.get_or_insert_with(|| provider.clone()) != provider {
            return;
        }
        match block {
            StoredBlock::Text { data } => {
                let texts = self
                    .blocks
                    .iter_mut()
                    .rev()
                    .filter_map(|block| match block {
                        StoredBlock::Text { data } => Some(data),
                        _ => None,
                    });
                if let Some(last) = texts.into_iter().next().filter(|last| last.is_none()) {
                    *last = data;
                }
            }
            StoredBlock::Call { id, data } => match self.data_of_call(&id) {
                Some(known) => *known = data,
                None => self.blocks.push(StoredBlock::Call { id, data }),
            },
            block => self.blocks.push(block),
        }
    }

    fn data_of_call(&mut self, call: &str) -> Option<&mut Option<serde_json::Value>> {
        self.blocks.iter_mut().find_map(|block| match block {
            StoredBlock::Call { id, data } if id == call => Some(data),
            _ => None,
        })
    }

    /// The messages as received; or one message with the order of all items, if a provider needs its data back.
    pub(super) fn finish(self) -> Vec<Message> {
        let Some(provider) = self.provider else {
            return self.messages;
        };
        let mut messages = self.messages.into_iter();
        let Some(mut whole) = messages.next() else {
            return Vec::new();
        };
        for message in messages {
            whole.content.extend(message.content);
            whole.tool_calls.extend(message.tool_calls);
        }
        whole.provenance = Some(Box::new(Provenance {
            provider,
            blocks: self.blocks,
        }));
        vec![whole]
    }
}
