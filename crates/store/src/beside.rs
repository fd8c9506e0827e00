//! Answers beside others: to the same message, asked for together, some of them made of others.

use std::collections::HashMap;

use domain::{ChatId, MessageId};

use crate::{
    Store, StoreError,
    query::{Tx, readable},
};

/// What an answer stands beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The first answer of those that stand side by side.
    pub first: MessageId,
    /// The answers that it was made of; none where it is one of its own.
    pub made_of: Vec<MessageId>,
}

impl Store {
    /// What the answers of a chat stand beside; those that stand alone, and the first ones, are missing.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn answers_beside(
        &self,
        chat: ChatId,
    ) -> Result<HashMap<MessageId, Beside>, StoreError> {
        let sql = "SELECT message, beside, made_of FROM answers_beside \
                   JOIN messages ON messages.id = answers_beside.message WHERE messages.chat = $1";
        let rows = self.db().read(sql).id(chat).fetch_all().await?;
        let beside = readable(&rows, |row| {
            let beside = Beside {
                first: row.id("beside")?,
                made_of: row.json("made_of")?,
            };
            Ok((row.id("message")?, beside))
        });
        Ok(beside.into_iter().collect())
    }
}

/// Keeps what an answer stands beside.
pub(crate) async fn put(
    tx: &mut Tx,
    message: MessageId,
    beside: &Beside,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO answers_beside (message, beside, made_of) VALUES ($1, $2, $3)";
    tx.query(sql)
        .id(message)
        .id(beside.first)
        .json(&beside.made_of)?
        .execute()
        .await
        .map(drop)
}
