//! Material that a conversation refers to, such as documents, which the model reads along with the messages. It is not
//! part of what the person said: addresses in it do not count as named by the person, and it is not part of the
//! question.

use domain::{Message, Part, event::Source};

/// Additional input for the model besides the messages of a conversation.
#[derive(Debug, Default)]
pub struct ContextMaterial {
    /// The source of the material.
    pub sources: Vec<Source>,
    /// Texts to insert before the text of the message at this index.
    pub texts: Vec<(usize, String)>,
    /// The highest source number. Sources found later are numbered after it.
    pub numbers: usize,
    /// Added to the instructions of the main agent.
    pub instructions: String,
}

impl ContextMaterial {
    /// Inserts the material into the history, replacing the parts that only refer to it.
    pub(crate) fn tell(self, history: &mut [Message]) {
        for message in history.iter_mut() {
            message.content.retain(|part| part.name().is_none());
        }
        for (at, text) in self.texts {
            if let Some(message) = history.get_mut(at) {
                message.content.insert(0, Part::Text { text });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{CollectionId, Role};

    use super::*;

    #[test]
    fn material_precedes_the_message() {
        let mut message = Message::text(Role::User, "What is it?");
        let collection = CollectionId::generate();
        let name = "Moon".to_owned();
        message.content.push(Part::Collection { collection, name });
        let mut history = [Message::text(Role::User, "Hello"), message];
        ContextMaterial {
            texts: vec![(1, "It is far.".to_owned()), (7, "?".to_owned())],
            ..ContextMaterial::default()
        }
        .tell(&mut history);
        assert_eq!(history[0].plain_text(), "Hello");
        assert_eq!(history[1].plain_text(), "It is far.\nWhat is it?");
        assert_eq!(history[1].content.len(), 2);
    }
}
