//! The rows of an imported chat.

use domain::{ChatId, MessageId, ModelParameters, Part, RunId};
use store::{Chat, ChatMessage, ChatOrganization, EndedRun, Principal, Segment, StoreError};
use wire::chat_exports::{self as there, as_run};

use super::{
    super::{ids::Ids, media::Prepared},
    name_of, past,
};
use crate::{app::App, error::ApiError, pipelines::tags::few_tags};

/// A chat with the ids that it has here.
pub(super) struct Brought {
    chat: Chat,
    pub(super) messages: Vec<ChatMessage>,
    pub(super) runs: Vec<(EndedRun, Segment)>,
}

impl Brought {
    pub(super) fn new(
        chat: &there::Chat,
        ids: Ids,
        id: ChatId,
        title: &str,
        prepared: &Prepared,
        now: i64,
    ) -> Result<Self, ApiError> {
        let hash = |kind: &str, place: usize| ids.hash(&format!("{id} {kind} {place}"));
        let message_id = |at: usize| {
            let time = past(chat.messages[at].at, now);
            MessageId::of_elsewhere(time, place(at), hash("message", at))
        };
        let mut messages = Vec::with_capacity(chat.messages.len());
        let mut runs = Vec::new();
        for (at, message) in chat.messages.iter().enumerate() {
            let time = past(message.at, now);
            let mut row = ChatMessage {
                id: message_id(at),
                chat: id,
                parent: message.parent.map(message_id),
                role: message.role,
                content: content(&message.text, &message.pictures, &prepared.parts[at]),
                created_at: time,
                model: message.model.clone(),
                run: None,
                summary: None,
                schedule: None,
                author: None,
            };
            if let Some(answer) = &message.answer {
                let run = RunId::of_elsewhere(time, place(at), hash("run", at));
                let model = message.model.as_deref().unwrap_or(name_of(chat.product));
                let (ended, log) = ended_run(run, &row, model, answer)?;
                let text = &ended.summary.answer;
                row.content = content(text, &message.pictures, &prepared.parts[at]);
                (row.run, row.summary) = (Some(run), Some(ended.summary.clone()));
                runs.push((ended, log));
            }
            messages.push(row);
        }
        let chat = Chat {
            id,
            principal: Principal::of_account(ids.0),
            title: title.to_owned(),
            current: chat.current.map(message_id),
            directory: None,
            parameters: ModelParameters::default(),
            created_at: past(chat.created_at, now),
            updated_at: past(chat.updated_at, now),
            unread: false,
            expires_at: None,
            order: ChatOrganization {
                pinned: chat.pinned,
                archived: chat.archived,
                folder: None,
                tags: few_tags(&chat.tags),
            },
        };
        Ok(Self {
            chat,
            messages,
            runs,
        })
    }

    pub(super) async fn keep(&self, app: &App, prepared: &Prepared) -> Result<(), StoreError> {
        let mut import = app
            .store
            .import_chat(self.chat.clone(), &self.messages)
            .await?;
        for (run, log) in &self.runs {
            import.add_run(run).await?;
            import.add_log(log).await?;
        }
        for file in &prepared.files {
            let at = self.messages[file.message].created_at;
            import.add_file(&file.path, 1, at, &file.bytes).await?;
        }
        for attachment in &prepared.collections {
            import.add_attachment(*attachment).await?;
        }
        import.commit().await
    }
}

/// The run of an answer, with its log.
fn ended_run(
    run: RunId,
    row: &ChatMessage,
    model: &str,
    answer: &there::Answer,
) -> Result<(EndedRun, Segment), ApiError> {
    let (log, summary) = as_run(run, row.chat, row.id, model, row.created_at, answer);
    let mut lines = String::new();
    for event in &log {
        lines.push_str(&serde_json::to_string(event).map_err(ApiError::internal)?);
        lines.push('\n');
    }
    let ended = EndedRun {
        id: run,
        message: Some(row.id),
        model: model.to_owned(),
        started_at: row.created_at,
        finished_at: row.created_at,
        summary,
    };
    let segment = Segment {
        run,
        first_seq: 1,
        last_seq: log.len() as u64,
        lines: lines.into(),
    };
    Ok((ended, segment))
}

/// Orders records with the same time; there are fewer messages than that.
fn place(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

fn content(text: &str, pictures: &[String], files: &[Part]) -> Vec<Part> {
    let mut content = Vec::with_capacity(1 + pictures.len() + files.len());
    if !text.is_empty() || (pictures.is_empty() && files.is_empty()) {
        content.push(Part::Text {
            text: text.to_owned(),
        });
    }
    content.extend(pictures.iter().map(|url| Part::Image { url: url.clone() }));
    content.extend_from_slice(files);
    content
}
