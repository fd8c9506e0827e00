//! Full-text search in chats: titles, messages and tool results.

mod filling;
mod plain;
mod results;
mod words;

use std::{borrow::Cow, sync::LazyLock};

use domain::{EventBody, MessageId, Role, RunEvent, UserId, message::plain_text};
use knowledge::Terms;
use run_registry::Runs;
use store::{ChatSearch as Search, Found, FoundMessage, FoundPlace, SharedChat, Store};

use plain::plain;
use results::readable;
pub(crate) use words::{Excerpt, Question};

use crate::error::ApiError;

/// Only this much of a text is indexed, bytes.
const TEXT_BYTES: usize = 65_536;

static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);

/// A search request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) archived: bool,
    pub(crate) shown: bool,
    pub(crate) before: Option<i64>,
    pub(crate) limit: u32,
}

/// A message, or a tool result in it, that contains the words.
pub(crate) struct Hit {
    pub(crate) chat: SharedChat,
    pub(crate) message: MessageId,
    pub(crate) role: Role,
    pub(crate) at: i64,
    pub(crate) tool: Option<ToolPlace>,
    pub(crate) excerpt: Excerpt,
}

/// The place of a tool result.
pub(crate) struct ToolPlace {
    /// The tool's name.
    pub(crate) name: String,
    /// The call in the message's run, and the event that ends it.
    pub(crate) call: String,
    pub(crate) seq: u64,
}

/// The result of a search.
pub(crate) struct Answer {
    /// The chats whose titles contain the words; only on the first page.
    pub(crate) titles: Vec<(SharedChat, Excerpt)>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) next: Option<i64>,
}

/// Full-text search in chats.
pub struct ChatSearch {
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl ChatSearch {
    /// Searches what a user may read, newest first.
    ///
    /// # Errors
    /// Database errors.
    pub(crate) async fn search_chats(
        &self,
        reader: UserId,
        asked: &Asked,
    ) -> Result<Answer, ApiError> {
        let Asked {
            question,
            archived,
            shown,
            before,
            limit,
        } = asked.clone();
        let search = Search {
            words: question.words(),
            titles: false,
            archived,
            shown,
            before,
            limit,
        };
        let titles = match before {
            Some(_) => Found::default(),
            None => {
                self.store
                    .search_chats(
                        reader,
                        &Search {
                            titles: true,
                            ..search.clone()
                        },
                    )
                    .await?
            }
        };
        let titles = titles.places.into_iter().map(|place| {
            let excerpt = question.whole(&place.chat.chat.title);
            (place.chat, excerpt)
        });
        let found = self.store.search_chats(reader, &search).await?;
        let mut hits = Vec::with_capacity(found.places.len());
        for FoundPlace { chat, message } in found.places {
            let Some(message) = message else { continue };
            hits.extend(self.hit(&question, chat, message).await?);
        }
        Ok(Answer {
            titles: titles.collect(),
            hits,
            next: found.next,
        })
    }

    async fn hit(
        &self,
        question: &Question,
        chat: SharedChat,
        message: FoundMessage,
    ) -> Result<Option<Hit>, ApiError> {
        let FoundMessage {
            id,
            role,
            content,
            created_at: at,
            answer,
        } = message;
        let (tool, text) = match answer {
            None => (None, plain_text(&content)),
            Some((run, seq)) => {
                let line = self.store.event(run, seq).await?;
                let event: Option<RunEvent> =
                    line.and_then(|line| serde_json::from_str(&line).ok());
                match event.map(|event| event.body) {
                    Some(EventBody::ToolFinished {
                        call, name, result, ..
                    }) => (
                        Some(ToolPlace { name, call, seq }),
                        readable(&result).into_owned(),
                    ),
                    // It was deleted with its run in the meantime.
                    _ => return Ok(None),
                }
            }
        };
        let excerpt = match role {
            Role::User => question.excerpt(beginning(&text)),
            _ => question.excerpt(&shown(question, beginning(&text))),
        };
        Ok(Some(Hit {
            chat,
            message: id,
            role,
            at,
            tool,
            excerpt,
        }))
    }
}

/// The text of models and tools as users see it, unless the words occur only in hidden parts such as a URL.
fn shown<'a>(question: &Question, text: &'a str) -> Cow<'a, str> {
    let plain = plain(text);
    if question.is_in(&plain) {
        Cow::Owned(plain)
    } else {
        Cow::Borrowed(text)
    }
}

/// The part of a text that is indexed.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES)]
}
