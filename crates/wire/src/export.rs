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
//! {"document":{"id":"doc_…","collection":"col_…","name":"a.pdf","size_bytes":7000000}}
//! {"document_part":{"document":"doc_…","base64":"…"}}
//! {"damaged":{"of":"log of run_…","why":"stored data is damaged: …"}}
//! {"end":{"lines":12}}
//! ```
//!
//! What belongs to a chat, a run or a collection stands behind it, a message behind the one that it follows, a log behind its
//! run, and the parts of a document behind it, in their order.

use domain::{
    ChatId, CollectionId, DocumentId, FactId, MemoryId, MessageId, ModelParameters, Part, Role,
    RunEvent, RunId, RunSummary, ScheduleId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The number of this format.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first.
    GlasshouseExport(Head),
    /// Whose all this is.
    Profile(Profile),
    /// A conversation; its messages, runs and files follow.
    Chat(Chat),
    /// One of its messages.
    Message(Message),
    /// A run: one of the chat before, or of none.
    Run(Run),
    /// A piece of the log of the run before.
    Log(Log),
    /// A file of the chat or of the run before.
    File(File),
    /// A text that agents keep of the person.
    Memory(Memory),
    /// Something that was learned about the person.
    Fact(Fact),
    /// What is done at set times.
    Schedule(Schedule),
    /// A collection of documents; these follow.
    Collection(Collection),
    /// One of its documents; its file follows.
    Document(Document),
    /// A part of that file.
    DocumentPart(DocumentPart),
    /// A key for programs, without its secret.
    Key(Key),
    /// An agent that an administrator has defined.
    Agent(Agent),
    /// Something that could not be read where the file was made; at its end.
    Damaged(Damaged),
    /// The last.
    End(End),
}

/// What the file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`FORMAT`].
    pub format: u32,
    /// The program that has made it.
    pub version: String,
    /// When it was made.
    pub made_at: i64,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The address they sign in with.
    pub email: String,
    /// What they are called.
    pub name: String,
    /// `admin` or `user`.
    pub role: String,
    /// When the account was made.
    pub created_at: i64,
    /// The groups they are in, by name. Elsewhere they are in none because of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    /// Its id there.
    pub id: ChatId,
    /// What it is called.
    pub title: String,
    /// The leaf of the tree that is shown.
    #[serde(default)]
    pub current: Option<MessageId>,
    /// When it was made.
    pub created_at: i64,
    /// When something last changed in it.
    pub updated_at: i64,
    /// Whether something in it was not looked at.
    #[serde(default)]
    pub unread: bool,
    /// The directory of the machine that its files are in; they are not taken along then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether it stands above the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether it is put away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// What the folder is called that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What is set for its model calls.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub parameters: ModelParameters,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id there.
    pub id: MessageId,
    /// The chat before.
    pub chat: ChatId,
    /// What it follows.
    #[serde(default)]
    pub parent: Option<MessageId>,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Vec<Part>,
    /// When.
    pub created_at: i64,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run that has filled it: of this chat, or of the one that this is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// That run in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<RunSummary>,
    /// The name of the schedule that says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The first of the answers beside which it stands, where it is not that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<MessageId>,
    /// The answers beside it that it was made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_of: Vec<MessageId>,
}

/// A run of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id there.
    pub id: RunId,
    /// The chat before; nothing where it belongs to none.
    #[serde(default)]
    pub chat: Option<ChatId>,
    /// The message that it fills.
    #[serde(default)]
    pub message: Option<MessageId>,
    /// The main agent's model.
    pub model: String,
    /// When it began.
    pub started_at: i64,
    /// When it ended; nothing where it was still going.
    #[serde(default)]
    pub finished_at: Option<i64>,
    /// It in short, once it has ended.
    #[serde(default)]
    pub summary: Option<RunSummary>,
}

/// Consecutive events of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// The run before.
    pub run: RunId,
    /// Its next events.
    pub events: Vec<RunEvent>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The id of the chat or run whose file it is.
    pub workspace: String,
    /// Its path there.
    pub path: String,
    /// How often it was written.
    pub version: u64,
    /// When it was written last.
    pub changed_at: i64,
    /// What it holds.
    pub base64: String,
}

/// A text that agents keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id there.
    pub id: MemoryId,
    /// The one agent that has it; empty where all have it.
    #[serde(default)]
    pub agent: String,
    /// What it is called.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// All of it.
    pub text: String,
    /// Whether agents are told all of it.
    #[serde(default)]
    pub pinned: bool,
    /// When it was last changed.
    pub changed_at: i64,
}

/// Something that was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Its id there.
    pub id: FactId,
    /// A sentence.
    pub text: String,
    /// The chat it was learned from.
    #[serde(default)]
    pub chat: Option<ChatId>,
    /// The message it was learned from.
    #[serde(default)]
    pub message: Option<MessageId>,
    /// When.
    pub learned_at: i64,
    /// Whether it is in the person's own words.
    #[serde(default)]
    pub corrected: bool,
}

/// What is done at set times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its id there.
    pub id: ScheduleId,
    /// What it is called.
    pub name: String,
    /// What the agent is told.
    pub prompt: String,
    /// The model or agent.
    #[serde(default)]
    pub model: Option<String>,
    /// The times.
    #[serde(default)]
    pub cron: Option<String>,
    /// The one time.
    #[serde(default)]
    pub once_at: Option<i64>,
    /// Where the times are meant.
    pub time_zone: String,
    /// Whether each run gets a chat of its own.
    #[serde(default)]
    pub new_chat: bool,
    /// Whether it was on.
    #[serde(default)]
    pub enabled: bool,
}

/// A collection of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Its id there.
    pub id: CollectionId,
    /// What it is called.
    pub name: String,
    /// What is in it.
    #[serde(default)]
    pub description: String,
    /// Whether everybody there could search it.
    #[serde(default)]
    pub open: bool,
    /// Where it is one file that came with a message: its chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatId>,
}

/// A document, without what was read of it: it is read anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its id there.
    pub id: DocumentId,
    /// The collection before.
    pub collection: CollectionId,
    /// What its file is called.
    pub name: String,
    /// Of the file.
    pub size_bytes: u64,
}

/// Consecutive bytes of a document's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentPart {
    /// The document before.
    pub document: DocumentId,
    /// At most some millions of them.
    pub base64: String,
}

/// A key for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What it is called.
    pub name: String,
    /// When it was made.
    pub created_at: i64,
    /// When it ends.
    #[serde(default)]
    pub expires_at: Option<i64>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// What it is called.
    pub name: String,
    /// The rest.
    pub definition: Value,
}

/// What is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damaged {
    /// Of what it was, such as `run run_…` or `memories`.
    pub of: String,
    /// What is wrong with it, for the administrator.
    pub why: String,
}

/// The end, without which the file is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many lines stand before it.
    pub lines: u64,
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, in a few words that name none of its content.
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

/// Most values of a line, or of another JSON that people bring: in memory each is many times as large as it may be written.
const MOST_VALUES: usize = 1_000_000;

/// Whether reading this JSON could take far more memory than it has bytes.
pub(crate) fn has_too_many_values(json: &[u8]) -> bool {
    // Those in texts count too: what has so many of them is long in any case.
    memchr::memchr3_iter(b',', b'[', b'{', json)
        .nth(MOST_VALUES)
        .is_some()
        && values(json) > MOST_VALUES
}

/// Values of a JSON text, about, those in texts not counted.
fn values(json: &[u8]) -> usize {
    let (mut count, mut in_text, mut bytes) = (0, false, json.iter());
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

/// Whether these are events as they are stored: each a JSON object in a line.
#[must_use]
pub fn are_lines(stored: &str) -> bool {
    stored.ends_with('\n')
        && stored.lines().all(|line| {
            line.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
        })
}

/// A log's line, from events as they are stored: each in a line.
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
    fn what_is_written_is_read() {
        let (chat, run) = (ChatId::generate(), RunId::generate());
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
    fn what_is_wrong_is_told_without_what_it_says() {
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
