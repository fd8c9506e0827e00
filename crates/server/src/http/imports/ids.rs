//! Derives the ids of imported records from their original ids and the importing user, so that repeating an import
//! finds them, and a file cannot refer to records of other users.

use domain::{
    ChatId, CollectionId, DocumentId, FactId, MessageId, RunId, ScheduleId, SourceId, UserId,
};
use ring::digest::{Context, SHA256};

/// Derives the ids for one user's import.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids(pub(super) UserId);

impl Ids {
    pub(super) fn chat(self, there: ChatId) -> ChatId {
        there.brought(self.four(&there.to_string()))
    }

    pub(super) fn message(self, there: MessageId) -> MessageId {
        there.brought(self.four(&there.to_string()))
    }

    pub(super) fn run(self, there: RunId) -> RunId {
        there.brought_with_its_end(self.four(&there.to_string()))
    }

    pub(super) fn fact(self, there: FactId) -> FactId {
        there.brought(self.four(&there.to_string()))
    }

    pub(super) fn schedule(self, there: ScheduleId) -> ScheduleId {
        there.brought(self.four(&there.to_string()))
    }

    pub(super) fn collection(self, there: CollectionId) -> CollectionId {
        there.brought(self.four(&there.to_string()))
    }

    pub(super) fn source(self, there: SourceId) -> SourceId {
        there.brought(self.four(&there.to_string()))
    }

    pub(super) fn document(self, there: DocumentId) -> DocumentId {
        there.brought(self.four(&there.to_string()))
    }

    fn four(self, there: &str) -> [u8; 4] {
        let [a, b, c, d, ..] = self.hash(there);
        [a, b, c, d]
    }

    /// The first bytes of a hash of the user and the original id.
    pub(super) fn hash(self, there: &str) -> [u8; 8] {
        let mut hash = Context::new(&SHA256);
        // Ids contain no line feed.
        [self.0.to_string().as_bytes(), b"\n", there.as_bytes()]
            .into_iter()
            .for_each(|part| hash.update(part));
        let mut first = [0; 8];
        first.copy_from_slice(&hash.finish().as_ref()[..8]);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_for_one_person_and_others_for_another() {
        let ann = Ids(UserId::generate());
        let bob = Ids(UserId::generate());
        let chat = ChatId::generate();
        let run = RunId::generate();
        assert_eq!(ann.chat(chat), ann.chat(chat));
        assert_ne!(ann.chat(chat), bob.chat(chat));
        assert_ne!(ann.run(run), bob.run(run));
        assert_ne!(ann.run(run), run);
    }
}
