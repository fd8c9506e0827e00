//! Messages: chats, runs, memories, and exports.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Chats, runs, memories, and exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Chats {
    // Chats and messages.
    #[error("A chat has at most {count} tags.")]
    TooManyTags { count: u64 },
    #[error("Name 1 to {count} chats.")]
    BadChoiceOfChats { count: u64 },
    #[error("A folder's name has 1 to {limit} characters.")]
    BadFolderName { limit: u64 },
    #[error("You have a folder of this name already.")]
    FolderNameTaken,
    #[error("You have {count} folders, and more are not possible.")]
    TooManyFolders { count: u64 },
    #[error("A title has 1 to {limit} characters.")]
    BadTitle { limit: u64 },
    #[error("A message has at most {count} parts.")]
    TooManyParts { count: u64 },
    #[error("The message is empty. Write something first.")]
    EmptyMessage,
    #[error("A picture has to be sent along as a data:image/… address.")]
    ForeignPicture,
    #[error("The message you answer is not in this chat (any more).")]
    ParentGone,
    #[error("There is no such answer in this chat.")]
    NoSuchAnswer,
    #[error("The chat of the earlier request is gone.")]
    EarlierChatGone,
    #[error("This is your own address.")]
    YourOwnAddress,
    #[error("A chat can be shared with {count} people by name.")]
    TooManyReaders { count: u64 },

    // Alternative answers.
    #[error("1 to {count} answers can be asked for at a time.")]
    BadNumberOfAnswers { count: u64 },
    #[error("There are 1 to {count} layers of answers.")]
    BadNumberOfLayers { count: u64 },
    #[error("At most {count} answers stand side by side.")]
    TooManyBeside { count: u64 },
    #[error("At most {count} answers are merged.")]
    TooManyToMerge { count: u64 },
    #[error(
        "This answer goes on from tools that another program ran, so nobody else can answer here."
    )]
    AnswerOfOtherProgram,
    #[error("One of the answers does not stand beside this one (any more).")]
    NotBeside,
    #[error("None of these answers has ended and says something. Wait for one, or ask again.")]
    NoAnswerToMergeYet,
    #[error("There is no answer that could be merged.")]
    NoAnswerToMerge,
    #[error("Answers are not merged here: that is turned off.")]
    MergingIsOff,

    // Runs.
    #[error("There is no such run, or it is not yours.")]
    NoSuchRun,
    #[error("There is no such call in this run, or it has not finished.")]
    NoSuchCall,
    #[error("The log of this run is damaged and cannot be read to its end.")]
    DamagedLog,
    #[error("This is not the id of a sub-agent, such as a2.1.")]
    BadAgentId,
    #[error("An answer has at most {limit} bytes.")]
    LongAnswer { limit: u64 },
    #[error(
        "The run cannot go on yet: its model server or the database did not answer. It can be stopped; what it asks can be \
         answered once it goes on."
    )]
    RunSetAside,
    #[error(
        "A run of another server has been told to stop, but has not ended yet. Try again in a moment."
    )]
    RunElsewhere,
    #[error("The run could not be brought back to take the answer. Try again in a moment.")]
    RunStillRests,

    // Questions of a run.
    #[error("Only what is allowed can be remembered.")]
    OnlyAllowedRemembered,
    #[error("This run belongs to no chat: allow the call once, or always.")]
    NoChatToAllowIn,
    #[error("You have allowed {count} kinds of calls. Take some back in the settings.")]
    TooManyAllowed { count: u64 },

    // Forks.
    #[error(
        "This run belongs to no chat, so there is no conversation that could go on another way."
    )]
    ForkWithoutChat,
    #[error("The run is still going. Stop it or wait for its end, then fork it.")]
    ForkWhileGoing,
    #[error("The run is too long to be forked here.")]
    ForkTooLong,
    #[error(
        "A run can be forked right before a model call of its main agent, and event {after} is not there."
    )]
    NoForkThere { after: u64 },
    #[error(
        "A run can be forked right before a model call of its main agent, and event {after} is not there. Event {nearest} \
         is such a place."
    )]
    ForkNearby { after: u64, nearest: u64 },
    #[error("The run's message is not in its chat any more.")]
    MessageOfRunGone,
    #[error(
        "This answer goes on from tools that another program ran, so only that program can go on from it."
    )]
    ForkOfOtherProgram,
    #[error(
        "The file {path} is not kept any more as it was at this step, so the chat's files cannot be put back."
    )]
    FileNotKept { path: String },

    // Files of chats.
    #[error("There is no such file in this chat, or it is not kept as it was then.")]
    NoSuchState,
    #[error("There is no such file in this chat.")]
    NoSuchFile,
    #[error("The file has changed meanwhile. Look at it again, then repeat.")]
    FileChanged,
    #[error(
        "The files of this chat are in a directory of the server, which only its owner may read."
    )]
    DirectoryOfOwner,
    #[error("The directory has too many files for one archive, or a folder in it cannot be read.")]
    TooManyForArchive,

    // Memories.
    #[error("The name is missing.")]
    MemoryWithoutName,
    #[error("The name is one line of at most {limit} characters.")]
    LongMemoryName { limit: u64 },
    #[error("The agent's name is one line of at most {limit} characters.")]
    LongMemoryAgent { limit: u64 },
    #[error("The description is one line of at most {limit} characters.")]
    LongMemoryDescription { limit: u64 },
    #[error("The text has at most {limit} characters.")]
    LongMemory { limit: u64 },
    #[error("Another memory has this name.")]
    MemoryNameTaken,
    #[error("There are {count} memories, which is the limit. Delete some.")]
    TooManyMemories { count: u64 },
    #[error("The memory has changed meanwhile. Load it again.")]
    MemoryChanged,
    #[error("A fact has 1 to {limit} characters.")]
    BadFact { limit: u64 },

    // Exports and imports.
    #[error("An export or import of yours is still going. Wait for its end, then try again.")]
    StillMoving,
    #[error("The administrator of this server has turned importing off.")]
    ImportingIsOff,
    #[error("The server is stopping. Import the file again in a moment: what is here stays.")]
    StoppingImport,
    #[error("This is a compressed file. Unpack it, then choose what was in it.")]
    CompressedFile,
    #[error(
        "This is no file that can be imported: neither an export of Glasshouse nor one of Open WebUI's chats."
    )]
    NoImportableFile,
    #[error("The file has format {format}, and this server knows format {known}.")]
    OtherFormat { format: u64, known: u64 },
    #[error("The file's first line does not say what it is.")]
    FormatUnsaid,
}

impl CodedMessage for Chats {}
