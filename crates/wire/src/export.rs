//! What a person takes along from one server and brings to another: lines of JSON, each one thing, named by its kind.
//!
//! ```text
//! {"glasshouse_export":{"format":1,"version":"0.1.0","made_at":1795000000000}}
//! {"profile":{"email":"ada@example.org","name":"Ada","role":"admin","created_at":1795000000000}}
//! {"chat":{"id":"chat_…","title":"Tides",…}}
//! {"message":{"id":"msg_…","chat":"chat_…","parent":null,"role":"user","content":[{"type":"text","text":"Hi"}],…}}
//! {"run":{"id":"run_…","chat":"chat_…","message":"msg_…","model":"m",…}}
//! {"log":{"run":"run_…","events":[…]}}
//! {"file":{"workspace":"chat_…","path":"/notes.md","version":3,"changed_at":1795000000000,"base64":"…"}}
//! {"collection":{"id":"col_…","name":"Manuals",…}}
//! {"source":{"id":"src_…","collection":"col_…","name":"Wiki","settings":{…},"every_minutes":60}}
//! {"document":{"id":"doc_…","collection":"col_…","name":"a.pdf","size_bytes":7000000}}
//! {"document_part":{"document":"doc_…","base64":"…"}}
//! {"damaged":{"of":"log of run_…","why":"stored data is damaged: …"}}
//! {"end":{"lines":12}}
//! ```
//!
//! What belongs to a chat, a run or a collection stands behind it, a message behind the one that it follows, a log behind its
//! run, and the parts of a document behind it, in their order.

use std::collections::BTreeSet;

use domain::{
    ChatId, CollectionId, DocumentId, FactId, MemoryId, MessageId, ModelParameters, Part, Role,
    RunEvent, RunId, RunSummary, ScheduleId, SourceId, event::Author,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of this format.
pub const FORMAT: u32 = 1;

/// One line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The header, always first.
    GlasshouseExport(Head),
    /// The owner of the data.
    Profile(Profile),
    /// A conversation; its messages, runs and files follow.
    Chat(Chat),
    /// One of its messages.
    Message(Message),
    /// A run of the preceding chat, or of none.
    Run(Run),
    /// A part of the preceding run's log.
    Log(Log),
    /// A file of the preceding chat or run.
    File(File),
    /// An agent's memory of the person.
    Memory(Memory),
    /// A fact learned about the person.
    Fact(Fact),
    /// A scheduled task.
    Schedule(Schedule),
    /// A collection of documents; these follow.
    Collection(Collection),
    /// One of its sources, without its secret.
    Source(Source),
    /// One of its documents; its file follows.
    Document(Document),
    /// A part of that file.
    DocumentPart(DocumentPart),
    /// An API key, without its secret.
    Key(Key),
    /// An agent that an administrator has defined.
    Agent(Agent),
    /// Data that could not be read on export; at the end.
    Damaged(Damaged),
    /// The trailer, always last.
    End(End),
}

/// The header of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of the exporting program.
    pub version: String,
    /// The time of the export.
    pub made_at: i64,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The e-mail address for signing in.
    pub email: String,
    /// The display name.
    pub name: String,
    /// `admin` or `user`.
    pub role: String,
    /// The creation time of the account.
    pub created_at: i64,
    /// The names of the person's groups. An import does not add memberships.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    /// Its id on the source server.
    pub id: ChatId,
    /// The title.
    pub title: String,
    /// The displayed leaf of the message tree.
    #[serde(default)]
    pub current: Option<MessageId>,
    /// The creation time.
    pub created_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
    /// Whether it has unread messages.
    #[serde(default)]
    pub unread: bool,
    /// The directory of its files on the source machine; they are not exported then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether it is pinned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether it is archived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The name of its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The parameters of its model calls.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub parameters: ModelParameters,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id on the source server.
    pub id: MessageId,
    /// The preceding chat.
    pub chat: ChatId,
    /// The parent message.
    #[serde(default)]
    pub parent: Option<MessageId>,
    /// The role of the author.
    pub role: Role,
    /// The content.
    pub content: Vec<Part>,
    /// The creation time.
    pub created_at: i64,
    /// The answering model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run that produced it: of this chat, or of the one that this is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The summary of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<RunSummary>,
    /// The name of the schedule that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Who wrote it, if that is not the chat's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// The first of its alternative answers, if it is not that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<MessageId>,
    /// The alternative answers that it was combined from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_of: Vec<MessageId>,
}

/// A run of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id on the source server.
    pub id: RunId,
    /// The preceding chat; `None` if it belongs to none.
    #[serde(default)]
    pub chat: Option<ChatId>,
    /// The message that it produced.
    #[serde(default)]
    pub message: Option<MessageId>,
    /// The main agent's model.
    pub model: String,
    /// When it began.
    pub started_at: i64,
    /// The end time; `None` if it was still running.
    #[serde(default)]
    pub finished_at: Option<i64>,
    /// The summary, if it has ended.
    #[serde(default)]
    pub summary: Option<RunSummary>,
}

/// Consecutive events of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// The preceding run.
    pub run: RunId,
    /// Its next events.
    pub events: Vec<RunEvent>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The id of the chat or run that owns the file.
    pub workspace: String,
    /// Its path there.
    pub path: String,
    /// The number of times it was written.
    pub version: u64,
    /// The time of the last write.
    pub changed_at: i64,
    /// The content.
    pub base64: String,
}

/// A memory of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id on the source server.
    pub id: MemoryId,
    /// The only agent that has it; empty if all have it.
    #[serde(default)]
    pub agent: String,
    /// The name.
    pub name: String,
    /// Its purpose.
    #[serde(default)]
    pub description: String,
    /// The complete text.
    pub text: String,
    /// Whether it is part of every prompt.
    #[serde(default)]
    pub pinned: bool,
    /// The time of the last change.
    pub changed_at: i64,
}

/// A learned fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Its id on the source server.
    pub id: FactId,
    /// A sentence.
    pub text: String,
    /// The chat it was learned from.
    #[serde(default)]
    pub chat: Option<ChatId>,
    /// The message it was learned from.
    #[serde(default)]
    pub message: Option<MessageId>,
    /// The time.
    pub learned_at: i64,
    /// Whether the person has edited it.
    #[serde(default)]
    pub corrected: bool,
}

/// A scheduled task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its id on the source server.
    pub id: ScheduleId,
    /// The name.
    pub name: String,
    /// The prompt.
    pub prompt: String,
    /// The model or agent.
    #[serde(default)]
    pub model: Option<String>,
    /// The cron expression.
    #[serde(default)]
    pub cron: Option<String>,
    /// The time of a single run.
    #[serde(default)]
    pub once_at: Option<i64>,
    /// The time zone of the times.
    pub time_zone: String,
    /// Whether each run gets a new chat.
    #[serde(default)]
    pub new_chat: bool,
    /// Whether it was enabled.
    #[serde(default)]
    pub enabled: bool,
}

/// A collection of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Its id on the source server.
    pub id: CollectionId,
    /// The name.
    pub name: String,
    /// The description.
    #[serde(default)]
    pub description: String,
    /// Whether everybody on the source server could search it.
    #[serde(default)]
    pub open: bool,
    /// The chat, if it is one file attached to a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatId>,
}

/// A source that a collection follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its id on the server that it was exported from.
    pub id: SourceId,
    /// The preceding collection.
    pub collection: CollectionId,
    /// The name.
    pub name: String,
    /// Its settings without the secret; `None` if a program sends its documents.
    #[serde(default)]
    pub settings: Option<Value>,
    /// The interval of synchronizations, minutes; `None` if each is started by hand.
    #[serde(default)]
    pub every_minutes: Option<u64>,
}

/// Which document of a source a document is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfSource {
    /// The preceding source.
    pub source: SourceId,
    /// What identifies the document there.
    pub id: String,
    /// Its name there.
    pub name: String,
    /// The version that was received.
    pub version: String,
    /// When it was changed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<i64>,
    /// Where people open it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Who may read a document, of those who may read its collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readers {
    /// Email addresses.
    #[serde(default)]
    pub people: BTreeSet<String>,
    /// Names of groups.
    #[serde(default)]
    pub groups: BTreeSet<String>,
    /// Domains of email addresses.
    #[serde(default)]
    pub domains: BTreeSet<String>,
}

/// A document, without its extracted text: it is read again after import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its id on the source server.
    pub id: DocumentId,
    /// The preceding collection.
    pub collection: CollectionId,
    /// The file name.
    pub name: String,
    /// The size of the file.
    pub size_bytes: u64,
    /// Who may read it; `None` for all who may read the collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Readers>,
    /// Where it comes from; `None` if it was uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<OfSource>,
    /// What its source says of it.
    #[serde(default, skip_serializing_if = "DocumentTags::is_empty")]
    pub from_source: DocumentTags,
    /// What people have set. What the file says of itself is read from it again.
    #[serde(default, skip_serializing_if = "DocumentTags::is_empty")]
    pub from_people: DocumentTags,
}

/// Tags and metadata of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentTags {
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Values by key: one, or a list.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl DocumentTags {
    fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.metadata.is_empty()
    }
}

/// Consecutive bytes of a document's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentPart {
    /// The preceding document.
    pub document: DocumentId,
    /// At most a few million bytes.
    pub base64: String,
}

/// An API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The name.
    pub name: String,
    /// The creation time.
    pub created_at: i64,
    /// The expiry time.
    #[serde(default)]
    pub expires_at: Option<i64>,
}

/// An agent definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The name.
    pub name: String,
    /// The other fields.
    pub definition: Value,
}

/// Data that is missing from the export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damaged {
    /// The affected data, such as `run run_…` or `memories`.
    pub of: String,
    /// The reason, for the administrator.
    pub why: String,
}

/// The trailer, without which the file is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The number of lines before it.
    pub lines: u64,
}

impl Line {
    /// Parses a line.
    ///
    /// # Errors
    /// What is wrong with it, without quoting its content.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        if has_too_many_values(line) {
            return Err("it has too many values".to_owned());
        }
        serde_json::from_slice(line).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => "it is not as this format has it".to_owned(),
            _ => "it is not valid JSON".to_owned(),
        })
    }
}

/// Maximum number of JSON values in a line, or in other imported JSON: parsed, each is many times larger than its text.
const MAX_VALUES: usize = 1_000_000;

/// Whether parsing this JSON could take far more memory than it has bytes.
pub(crate) fn has_too_many_values(json: &[u8]) -> bool {
    // Those inside strings count too: a text with so many of them is large in any case.
    memchr::memchr3_iter(b',', b'[', b'{', json)
        .nth(MAX_VALUES)
        .is_some()
        && values(json) > MAX_VALUES
}

/// The approximate number of values of a JSON text, not counting those inside strings.
fn values(json: &[u8]) -> usize {
    let mut count = 0;
    let mut in_text = false;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' => _ = bytes.next(),
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Whether these are stored events: a JSON object per line.
#[must_use]
pub fn are_lines(stored: &str) -> bool {
    stored.ends_with('\n')
        && stored.lines().all(|line| {
            line.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
        })
}

/// A log's line, from stored events, one per line.
#[must_use]
pub fn log_line(run: RunId, stored: &str) -> String {
    let mut line = format!("{{\"log\":{{\"run\":\"{run}\",\"events\":[");
    for (at, event) in stored.lines().filter(|event| !event.is_empty()).enumerate() {
        if at > 0 {
            line.push(',');
        }
        line.push_str(event);
    }
    line.push_str("]}}");
    line
}

#[cfg(test)]
mod tests {
    use domain::{AgentPath, EventBody};

    use super::*;

    #[test]
    fn written_data_can_be_read() {
        let chat = ChatId::generate();
        let run = RunId::generate();
        let event = |seq| RunEvent {
            run,
            seq,
            at: 7,
            agent: AgentPath::main(),
            body: EventBody::TextStarted {
                item: "t\n1".to_owned(),
            },
        };
        let stored: String = [1, 2]
            .map(|seq| serde_json::to_string(&event(seq)).expect("it can be written") + "\n")
            .concat();
        let log = Line::read(log_line(run, &stored).as_bytes());
        assert_eq!(
            log,
            Ok(Line::Log(Log {
                run,
                events: vec![event(1), event(2)]
            }))
        );
        assert_eq!(
            Line::read(log_line(run, "").as_bytes()),
            Ok(Line::Log(Log {
                run,
                events: vec![]
            }))
        );
        assert!(are_lines(&stored));
        for damaged in ["", "\n", "{}", "{}\n{\n", "[]\n", "{\"a\":\u{fffd}}\n"] {
            assert!(!are_lines(damaged), "{damaged}");
        }
        let head = Head {
            format: FORMAT,
            version: "0.1.0".to_owned(),
            made_at: 5,
        };
        let chat = Chat {
            id: chat,
            title: "“T”".to_owned(),
            current: None,
            created_at: 1,
            updated_at: 2,
            unread: true,
            directory: None,
            pinned: true,
            archived: false,
            folder: Some("F".to_owned()),
            tags: vec!["t".to_owned()],
            parameters: ModelParameters {
                seed: Some(7),
                ..ModelParameters::default()
            },
        };
        for line in [
            Line::GlasshouseExport(head),
            Line::Chat(chat),
            Line::End(End { lines: 2 }),
        ] {
            let text = serde_json::to_string(&line).expect("it can be written");
            assert!(!text.contains('\n'));
            assert_eq!(Line::read(text.as_bytes()), Ok(line));
        }
    }

    #[test]
    fn errors_do_not_quote_content() {
        let deep = format!(
            "{{\"agent\":{{\"name\":\"a\",\"definition\":{}1{}}}}}",
            "[".repeat(5000),
            "]".repeat(5000)
        );
        for (line, words) in [
            ("", "not valid JSON"),
            ("{", "not valid JSON"),
            (&deep, "not valid JSON"),
            ("{\"secret\":1}", "as this format has it"),
            ("{\"end\":{\"lines\":-1}}", "as this format has it"),
            ("{\"chat\":{\"id\":\"secret\"}}", "as this format has it"),
            (&format!("[{}0]", "0,".repeat(2_000_000)), "too many values"),
            (
                &format!("{{\"a\":\"\\\"{}\"}}", ",".repeat(2_000_000)),
                "as this format has it",
            ),
        ] {
            let why = Line::read(line.as_bytes()).expect_err(line);
            assert!(
                why.contains(words) && !why.contains("secret"),
                "{line}: {why}"
            );
        }
    }
}
