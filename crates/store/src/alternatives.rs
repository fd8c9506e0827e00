//! Alternative answers to the same message, and the answers that some of them combine.

use std::collections::HashMap;

use domain::{ChatId, MessageId};

use crate::{
    Store, StoreError,
    query::{Tx, readable},
};

/// The alternatives of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternatives {
    /// The first answer of the group of alternatives.
    pub first: MessageId,
    /// The answers that it combines; empty for a plain one.
    pub made_of: Vec<MessageId>,
}

impl Store {
    /// The alternatives of a chat's answers; answers without alternatives, and the first ones, are missing.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn alternative_answers(
        &self,
        chat: ChatId,
    ) -> Result<HashMap<MessageId, Alternatives>, StoreError> {
        let sql = "SELECT message, beside, made_of FROM answers_beside \
                   JOIN messages ON messages.id = answers_beside.message WHERE messages.chat = $1";
        let rows = self.db().read(sql).id(chat).fetch_all().await?;
        let alternatives = readable(&rows, |row| {
            let alternatives = Alternatives {
                first: row.id("beside")?,
                made_of: row.json("made_of")?,
            };
            Ok((row.id("message")?, alternatives))
        });
        Ok(alternatives.into_iter().collect())
    }
}

/// Stores the alternatives of an answer.
pub(crate) async fn put(
    tx: &mut Tx,
    message: MessageId,
    alternatives: &Alternatives,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO answers_beside (message, beside, made_of) VALUES ($1, $2, $3)";
    tx.query(sql)
        .id(message)
        .id(alternatives.first)
        .json(&alternatives.made_of)?
        .execute()
        .await
        .map(drop)
}
