//! Messages: collections, documents, graphs, and the models for them.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Collections, documents, graphs, and the models for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Knowledge {
    // Models for documents.
    #[error("The model returned vectors of different lengths, which cannot be compared.")]
    VectorsDiffer,
    #[error("The model returned a vector with no direction, so nothing can be found with it.")]
    VectorWithoutDirection,
    #[error("The built-in model took longer than {seconds} s.")]
    BuiltInSlow { seconds: u64 },
    #[error(
        "The built-in model is not installed: {file} is missing. An administrator can install it as described on the \
         manual's page about documents."
    )]
    BuiltInMissing { file: String },
    #[error("The built-in model cannot be loaded. See the server's log.")]
    BuiltInBroken,
    #[error("{name} did not answer in the requested format.")]
    NotInFormOf { name: String },
    #[error("{name} did not describe the picture.")]
    SaidNothing { name: String },
    #[error("Only keywords were compared, not meanings: {why}")]
    OnlyWords { why: LocalizedText },
    #[error(
        "Only keywords were compared in some collections, whose documents are not embedded yet."
    )]
    NotEmbeddedYet,
    #[error("The best results were not reranked: {why}")]
    NotRanked { why: LocalizedText },

    // Collections.
    #[error("Collection not found, or it is not shared with you.")]
    NoSuchCollection,
    #[error("You already have {count} collections, the maximum.")]
    TooManyCollections { count: u64 },
    #[error("Only accounts can have documents, not the users of a front end.")]
    DocumentsOfAccounts,
    #[error("A collection can be shared with at most {count} groups.")]
    TooManyGroupsShared { count: u64 },
    #[error("A collection can be shared with at most {count} people by name.")]
    TooManyPeopleShared { count: u64 },
    #[error("You can share it only with groups that you are in.")]
    NotYourGroup,
    #[error("This is the owner's address.")]
    OwnersAddress,

    // Documents.
    #[error("A collection can have at most {count} documents.")]
    CollectionFull { count: u64 },
    #[error("There is no room left for your documents. Delete some first.")]
    NoRoomForDocuments,
    #[error("The file is empty.")]
    EmptyFile,
    #[error("`name` must be a file name of 1 to {limit} bytes.")]
    BadFileName { limit: u64 },
    #[error("Your documents can have at most {limit} MB in total. Delete some first.")]
    DocumentsTooLarge { limit: u64 },
    #[error("Document not found, or this cannot be done with it.")]
    NothingToDo,
    #[error("Document not found in this collection.")]
    NoSuchDocument,
    #[error("You have {count} unsent files, the maximum. Send some first.")]
    TooManyUnsent { count: u64 },
    #[error("The document was deleted or is not shared with you. Remove it from the message.")]
    DocumentGone,
    #[error(
        "`types` can have at most {endings} file extensions without their dots, of 1 to {letters} letters each."
    )]
    BadTypes { endings: u64, letters: u64 },
    #[error(
        "Use at most {count} tags of 1 to {limit} characters each, without commas and semicolons."
    )]
    BadTags { count: u64, limit: u64 },
    #[error(
        "“{key}” cannot be a key. Use 1 to {limit} letters, digits, spaces, “_”, “-” and “.”, and not “tags”."
    )]
    BadMetadataKey { key: String, limit: u64 },
    #[error(
        "“{key}” must be a text of 1 to {limit} characters, a number, true or false, or a list of up to {count} of them."
    )]
    BadMetadataValue { key: String, limit: u64, count: u64 },
    #[error("A document can have at most {tags} tags and {keys} metadata fields.")]
    TooMuchMetadata { tags: u64, keys: u64 },
    #[error("Say which tags or metadata to change.")]
    NoMetadataChange,
    #[error("The filter by tags is invalid. Use names of tags.")]
    BadTagFilter,
    #[error(
        "The filter on “{key}” is invalid. Use a value, a list of values, `contains`, or `from` and `to` with numbers or \
         dates."
    )]
    BadMetadataFilter { key: String },
    #[error("`metadata` must be an object of keys and values.")]
    BadMetadataForm,
    #[error("The filter has too many conditions. Use at most 30.")]
    TooManyConditions,

    // Services that read documents.
    #[error("The external document reader cannot be reached.")]
    ReaderUnreachable,
    #[error("The external document reader took longer than {seconds} s.")]
    ReaderSlow { seconds: u64 },
    #[error("The external document reader is overloaded.")]
    ReaderBusy,
    #[error("The external document reader refused the file (HTTP {status}).")]
    ReaderRefused { status: u16 },
    #[error("The external document reader could not read the file.")]
    ReaderFailed,
    #[error("The answer of the external document reader is larger than {limit} MB.")]
    ReaderAnswerOver { limit: u64 },
    #[error(
        "What answers at the address of the external document reader is something else. Check knowledge.reader_url and \
         knowledge.reader_kind."
    )]
    ReaderOther,
    #[error("The recording is too large. At most {limit} MB are transcribed.")]
    RecordingTooLarge { limit: u64 },

    // Sites.
    #[error("Web pages cannot be read on this server (web.fetch).")]
    PagesNotRead,
    #[error("{count} of your sites are being read, the maximum at a time.")]
    TooManyCrawls { count: u64 },
    #[error("Crawl not found, or it is not running.")]
    NoCrawlGoingOn,
    #[error("Crawl not found, or it has not ended.")]
    NoCrawlEnded,
    #[error("Page copy not found, or you may not see it.")]
    NoCopyOfPage,

    // Graphs.
    #[error(
        "This server has no model for graphs. An administrator can set one: knowledge.graph_model."
    )]
    NoGraphModel,
    #[error("The documents do not mention this, or no longer do.")]
    NoSuchEntity,
    #[error("A name cannot be another name of itself.")]
    AliasOfItself,
    #[error("The graph already has 1000 other names, the maximum.")]
    TooManyAliases,
    #[error("The graph database cannot be used: {why}.")]
    GraphDatabaseAway { why: LocalizedText },
    #[error("it cannot be reached")]
    GraphUnreachable,
    #[error("it does not answer in time")]
    GraphSlow,
    #[error("the server there does not support Bolt 4.4 or 5")]
    GraphNotBolt,
    #[error("it does not accept the user name and password")]
    GraphNotLetIn,
    #[error("it refused a query ({code})")]
    GraphRefused { code: String },
    #[error("its answer is too large")]
    GraphAnswerTooLarge,

    // The embedding model.
    #[error("It can have at most {limit} characters, and no NUL.")]
    BadPrefix { limit: u64 },
    #[error("Name the model to try.")]
    NoModelToTry,
}

impl CodedMessage for Knowledge {}
