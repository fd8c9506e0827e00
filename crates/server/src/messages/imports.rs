//! Messages: what an import leaves out or changes.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// What an import leaves out or changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Imports {
    #[error(
        "The file is incomplete: its end is missing. The rest was imported; export it again to get everything."
    )]
    FileNotWhole,
    #[error("It is too long.")]
    TooLong,
    #[error("Line {line} of the file: {why}")]
    InLine { line: u64, why: LocalizedText },
    #[error("There are too many memories, facts and schedules.")]
    TooManySmall,
    #[error("There are too many chats.")]
    TooManyChats,
    #[error("Runs outside of chats are kept only for some days.")]
    RunsOutside,
    #[error("Keys are not transferred. Create new ones in the settings.")]
    KeysStay,
    #[error("Agents can be defined only by an administrator, in the settings.")]
    AgentsStay,
    #[error("It belongs to no chat in the file.")]
    OfNoChat,
    #[error("The chat worked in a directory of the other machine, whose files stay there.")]
    DirectoryStays,
    #[error("One of its ids is already used here, or occurs twice in the file.")]
    IdTaken,
    #[error("Another memory already has this name.")]
    MemoryNameHere,
    #[error("There are already {count} memories, the maximum.")]
    MemoriesFull { count: u64 },
    #[error("There are already {count} facts, the maximum.")]
    FactsFull { count: u64 },
    #[error("There are already {count} schedules, the maximum.")]
    SchedulesFull { count: u64 },
    #[error("It is larger than {limit} MB.")]
    MoreThanMb { limit: u64 },
    #[error("It is larger than {limit} bytes.")]
    MoreThanBytes { limit: u64 },
    #[error("The export contains only the attachment's name.")]
    OnlyName,
    #[error("It is neither from the user nor from an assistant.")]
    OtherRole,

    // Chats of other products.
    #[error("It is not a chat of Open WebUI, ChatGPT, Claude or LibreChat.")]
    NotAChat,
    #[error("It has too many values.")]
    TooManyValues,
    #[error("It has no messages.")]
    ChatWithoutMessages,
    #[error("It has more than {count} messages.")]
    MoreMessagesThan { count: u64 },
    #[error("It is a single message of LibreChat. Export its conversation instead.")]
    SingleMessage,
    #[error("Custom instructions and messages that were hidden there are not imported.")]
    HiddenThere,
    #[error("Recordings are not imported, only their transcripts.")]
    RecordingsStay,
    #[error("Content of the kind “{kind}” is not supported.")]
    OtherContent { kind: String },
    #[error("Its answer has too many steps.")]
    TooManySteps,
    #[error("No imported chat mentions it.")]
    NotMentioned,
    #[error("Only chats and their files are imported from this archive.")]
    NotChats,

    // Runs and messages of a chat.
    #[error("It belongs to a message that is not in its chat.")]
    StrayRun,
    #[error("It had not ended when the export was made.")]
    NotEnded,
    #[error("Its log is too long.")]
    LongLog,
    #[error("Its log belongs to another run.")]
    OtherLog,
    #[error("It has too many sub-agents.")]
    TooManySubAgents,
    #[error("Its log is invalid: {why}.")]
    StrangeLog { why: String },
    #[error("It claims to have used more than is possible.")]
    UsedTooMuch,
    #[error("A message has more than {count} parts.")]
    MorePartsThan { count: u64 },
    #[error("A message has a picture that is not in the file.")]
    PictureElsewhere,
    #[error("It has too many messages, or they are too long.")]
    TooManyMessages,
    #[error("A message is neither from the user nor from an assistant.")]
    MessageOfOther,
    #[error("A message follows one that does not come before it.")]
    MessageAstray,
    #[error("It has a message twice.")]
    MessageTwice,
    #[error("It has too many runs.")]
    TooManyRuns,
    #[error("It has a run twice.")]
    RunTwice,
    #[error("Its logs are too long.")]
    LongLogs,
    #[error("A log does not come right after its run.")]
    LogAstray,

    // Files and documents.
    #[error("It does not fit within the limits of the chat.")]
    NoRoomInChat,
    #[error("It occurs twice.")]
    ComesTwice,
    #[error("Its content is damaged.")]
    Damaged,
    #[error("Its file is incomplete.")]
    DocumentNotWhole,
    #[error("Its collection does not exist here.")]
    CollectionNotHere,
    #[error("A file can have at most {limit} MB here.")]
    FileOver { limit: u64 },
    #[error("The chat that it belongs to does not exist here.")]
    ChatNotHere,
}

impl CodedMessage for Imports {}
