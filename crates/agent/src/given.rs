//! What people point to in a conversation, such as documents: told to the model in words beside what was said. It is material:
//! nobody has named the addresses in it, and it is no question.

use domain::{Message, Part, event::Source};

/// What is told beside the messages of a conversation.
#[derive(Debug, Default)]
pub struct Given {
    /// Where it is from.
    pub sources: Vec<Source>,
    /// What is told before the words of the message at that place.
    pub texts: Vec<(usize, String)>,
    /// The highest number that a source has in what is told: what is found later is counted on from there.
    pub numbers: usize,
    /// What is told with the instructions of the main agent.
    pub instructions: String,
}

impl Given {
    /// Tells it, instead of what only points to it.
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
    fn what_is_told_stands_before_what_was_said() {
        let mut message = Message::text(Role::User, "What is it?");
        let (collection, name) = (CollectionId::generate(), "Moon".to_owned());
        message.content.push(Part::Collection { collection, name });
        let mut history = [Message::text(Role::User, "Hello"), message];
        Given {
            texts: vec![(1, "It is far.".to_owned()), (7, "?".to_owned())],
            ..Given::default()
        }
        .tell(&mut history);
        assert_eq!(history[0].plain_text(), "Hello");
        assert_eq!(history[1].plain_text(), "It is far.\nWhat is it?");
        assert_eq!(history[1].content.len(), 2);
    }
}
