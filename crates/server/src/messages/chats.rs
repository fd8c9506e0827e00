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
    #[error("At most {count} tags per chat.")]
    TooManyTags { count: u64 },
    #[error("Choose 1 to {count} chats.")]
    BadChoiceOfChats { count: u64 },
    #[error("A folder's name must have 1 to {limit} characters.")]
    BadFolderName { limit: u64 },
    #[error("You already have a folder with this name.")]
    FolderNameTaken,
    #[error("You already have {count} folders, the maximum.")]
    TooManyFolders { count: u64 },
    #[error("A title must have 1 to {limit} characters.")]
    BadTitle { limit: u64 },
    #[error("A message can have at most {count} parts.")]
    TooManyParts { count: u64 },
    #[error("The message is empty. Write something first.")]
    EmptyMessage,
    #[error("Send pictures as data:image/… URLs.")]
    ForeignPicture,
    #[error("The message that you reply to was not found in this chat. It may have been deleted.")]
    ParentGone,
    #[error("Answer not found in this chat.")]
    NoSuchAnswer,
    #[error("In a chat of somebody else you can send text only.")]
    OnlyTextFromReaders,
    #[error("This run belongs to no chat, so there is no next turn to queue a message for.")]
    NoChatToQueueFor,
    #[error("An id must have 1 to 100 letters, digits or signs of ASCII.")]
    BadInputId,
    #[error("Messages to a sub-agent are read at its next step: use the mode `steer`.")]
    SteerOnlyForAgents,
    #[error("The chat of the earlier request no longer exists.")]
    EarlierChatGone,
    #[error("Choose {min} to {max} seconds.")]
    BadExpiry { min: u64, max: u64 },
    #[error("This chat is not temporary, and cannot become so.")]
    NotTemporary,
    #[error("A temporary chat cannot be shared. Keep it first.")]
    TemporaryNotShared,
    #[error("This is your own address.")]
    YourOwnAddress,
    #[error("A chat can be shared with at most {count} people by name.")]
    TooManyReaders { count: u64 },

    // Alternative answers.
    #[error("You can ask for 1 to {count} answers at a time.")]
    BadNumberOfAnswers { count: u64 },
    #[error("The number of layers must be 1 to {count}.")]
    BadNumberOfLayers { count: u64 },
    #[error("A message can have at most {count} alternative answers.")]
    TooManyBeside { count: u64 },
    #[error("At most {count} answers can be merged.")]
    TooManyToMerge { count: u64 },
    #[error(
        "This answer continues from tools that another program ran, so alternative answers are not possible."
    )]
    AnswerOfOtherProgram,
    #[error("One of the answers is not, or no longer, an alternative to this one.")]
    NotBeside,
    #[error("None of these answers is finished and has text. Wait for one, or ask again.")]
    NoAnswerToMergeYet,
    #[error("There is no answer to merge.")]
    NoAnswerToMerge,
    #[error("Merging answers is turned off here.")]
    MergingIsOff,

    // Runs.
    #[error("Run not found, or it is not yours.")]
    NoSuchRun,
    #[error("Call not found in this run, or it has not finished.")]
    NoSuchCall,
    #[error("The log of this run is damaged and cannot be read completely.")]
    DamagedLog,
    #[error("This is not the id of a sub-agent. Use one such as a2.1.")]
    BadAgentId,
    #[error("An answer can have at most {limit} bytes.")]
    LongAnswer { limit: u64 },
    #[error(
        "The run cannot continue yet: its model server or the database did not answer. You can stop it now, and answer \
         its questions once it continues."
    )]
    RunSetAside,
    #[error(
        "The run is on another server and was told to stop, but has not ended yet. Try again in a moment."
    )]
    RunElsewhere,
    #[error("The run could not be resumed to take the answer. Try again in a moment.")]
    RunStillRests,

    // Questions of a run.
    #[error("Only an approval can be remembered.")]
    OnlyAllowedRemembered,
    #[error("This run belongs to no chat. Allow the call once or always.")]
    NoChatToAllowIn,
    #[error("You have allowed {count} kinds of calls, the maximum. Revoke some in the settings.")]
    TooManyAllowed { count: u64 },

    // Forks.
    #[error("This run belongs to no chat, so there is no conversation to fork.")]
    ForkWithoutChat,
    #[error("The run has not ended. Stop it or wait until it ends, then fork it.")]
    ForkWhileGoing,
    #[error("The run is too long to be forked.")]
    ForkTooLong,
    #[error(
        "A run can be forked only right before a model call of its main agent, and event {after} is not such a place."
    )]
    NoForkThere { after: u64 },
    #[error(
        "A run can be forked only right before a model call of its main agent, and event {after} is not such a place. \
         Use event {nearest}."
    )]
    ForkNearby { after: u64, nearest: u64 },
    #[error("The run's message is no longer in its chat.")]
    MessageOfRunGone,
    #[error(
        "This answer continues from tools that another program ran, so only that program can continue it."
    )]
    ForkOfOtherProgram,
    #[error(
        "The version of the file {path} at this step is no longer stored, so the chat's files cannot be restored."
    )]
    FileNotKept { path: String },

    // Files of chats.
    #[error("File not found in this chat, or this version of it is no longer stored.")]
    NoSuchState,
    #[error("File not found in this chat.")]
    NoSuchFile,
    #[error("The file has changed in the meantime. Load it again and repeat your change.")]
    FileChanged,
    #[error(
        "The files of this chat are in a directory of the server, which only its owner may read."
    )]
    DirectoryOfOwner,
    #[error(
        "The directory has too many files for one archive, or one of its folders cannot be read."
    )]
    TooManyForArchive,

    // Memories.
    #[error("The name is missing.")]
    MemoryWithoutName,
    #[error("The name must be one line of at most {limit} characters.")]
    LongMemoryName { limit: u64 },
    #[error("The agent's name must be one line of at most {limit} characters.")]
    LongMemoryAgent { limit: u64 },
    #[error("The description must be one line of at most {limit} characters.")]
    LongMemoryDescription { limit: u64 },
    #[error("The text can have at most {limit} characters.")]
    LongMemory { limit: u64 },
    #[error("Another memory already has this name.")]
    MemoryNameTaken,
    #[error("There are already {count} memories, the maximum. Delete some first.")]
    TooManyMemories { count: u64 },
    #[error("The memory has changed in the meantime. Load it again.")]
    MemoryChanged,
    #[error("A fact must have 1 to {limit} characters.")]
    BadFact { limit: u64 },

    // Exports and imports.
    #[error(
        "Another export or import of yours is still running. Wait until it ends, then try again."
    )]
    StillMoving,
    #[error("The administrator has turned off imports on this server.")]
    ImportingIsOff,
    #[error(
        "The server is stopping. Import the file again in a moment: what was imported so far is kept."
    )]
    StoppingImport,
    #[error("This is a compressed file. Unpack it, then choose the file that was in it.")]
    CompressedFile,
    #[error(
        "This file cannot be imported. Choose an export of Glasshouse, Open WebUI, ChatGPT, Claude or LibreChat."
    )]
    NoImportableFile,
    #[error(
        "This archive has no conversations.json. Choose the ZIP file of a ChatGPT or Claude export, or unpack it and choose the file in it."
    )]
    ArchiveWithoutChats,
    #[error("This ZIP file is damaged or incomplete. Download it again.")]
    DamagedArchive,
    #[error("This ZIP file is encrypted. Unpack it, then choose the file that was in it.")]
    EncryptedArchive,
    #[error("This ZIP file has more than {count} files.")]
    TooManyEntries { count: u64 },
    #[error("The file has format {format}, but this server supports format {known}.")]
    OtherFormat { format: u64, known: u64 },
    #[error("The file's first line does not say what it is.")]
    FormatUnsaid,
}

impl CodedMessage for Chats {}
