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
        "The file is not whole: its end is missing. What was in it is here; export it again for the rest."
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
    #[error("Runs outside of chats are kept for some days only.")]
    RunsOutside,
    #[error("Keys are not taken along. Make new ones in the settings.")]
    KeysStay,
    #[error("Agents are for an administrator to define, in the settings.")]
    AgentsStay,
    #[error("It belongs to no chat of the file.")]
    OfNoChat,
    #[error("The chat worked in a directory of the other machine, whose files stay there.")]
    DirectoryStays,
    #[error("An id in it belongs to something else here already, or stands in the file twice.")]
    IdTaken,
    #[error("Another memory here has this name.")]
    MemoryNameHere,
    #[error("There are {count} memories, which is the limit.")]
    MemoriesFull { count: u64 },
    #[error("There are {count} facts, which is the limit.")]
    FactsFull { count: u64 },
    #[error("There are {count} schedules, which is the limit.")]
    SchedulesFull { count: u64 },
    #[error("It has more than {limit} MB.")]
    MoreThanMb { limit: u64 },
    #[error("It has more than {limit} bytes.")]
    MoreThanBytes { limit: u64 },
    #[error("The export has only the attachment's name.")]
    OnlyName,
    #[error("It is neither the person's nor an assistant's.")]
    OtherRole,

    // Runs and messages of a chat.
    #[error("It fills a message that is not in its chat.")]
    StrayRun,
    #[error("It had not ended when the export was made.")]
    NotEnded,
    #[error("Its log is too long.")]
    LongLog,
    #[error("Its log is another run's.")]
    OtherLog,
    #[error("It has too many sub-agents.")]
    TooManySubAgents,
    #[error("Its log is not as logs are: {why}.")]
    StrangeLog { why: String },
    #[error("It has used more than can be.")]
    UsedTooMuch,
    #[error("A message has more than {count} parts.")]
    MorePartsThan { count: u64 },
    #[error("A message has a picture that is somewhere else.")]
    PictureElsewhere,
    #[error("It has too many messages, or too long ones.")]
    TooManyMessages,
    #[error("A message is neither the person's nor an assistant's.")]
    MessageOfOther,
    #[error("A message follows one that does not stand before it.")]
    MessageAstray,
    #[error("It has a message twice.")]
    MessageTwice,
    #[error("It has too many runs.")]
    TooManyRuns,
    #[error("It has a run twice.")]
    RunTwice,
    #[error("Its logs are too long.")]
    LongLogs,
    #[error("A log does not stand behind its run.")]
    LogAstray,

    // Files and documents.
    #[error("There is no room for it: a chat has its limits.")]
    NoRoomInChat,
    #[error("It comes twice.")]
    ComesTwice,
    #[error("Its content is damaged.")]
    Damaged,
    #[error("Its file is not whole.")]
    DocumentNotWhole,
    #[error("Its collection is not here.")]
    CollectionNotHere,
    #[error("A file may have {limit} MB here.")]
    FileOver { limit: u64 },
    #[error("The chat that it came with is not here.")]
    ChatNotHere,
}

impl CodedMessage for Imports {}
