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
    #[error("The model gives vectors of different lengths, which cannot be compared.")]
    VectorsDiffer,
    #[error("Its vector has no direction: nothing can be found by it.")]
    VectorWithoutDirection,
    #[error("The built-in model needed more than {seconds} s.")]
    BuiltInSlow { seconds: u64 },
    #[error(
        "The built-in model is not installed: {file} is missing. The administrator installs it as the page on documents in \
         the manual says."
    )]
    BuiltInMissing { file: String },
    #[error("The built-in model cannot be loaded; the server's log says why.")]
    BuiltInBroken,
    #[error("{name} did not answer in the form that was asked for.")]
    NotInFormOf { name: String },
    #[error("{name} said nothing of the picture.")]
    SaidNothing { name: String },
    #[error("Only words were compared, no meanings: {why}")]
    OnlyWords { why: LocalizedText },
    #[error("The best were not looked at once more: {why}")]
    NotRanked { why: LocalizedText },

    // Collections.
    #[error("There is no such collection, or it is not shared with you.")]
    NoSuchCollection,
    #[error("You have {count} collections, which is the most there may be.")]
    TooManyCollections { count: u64 },
    #[error("Documents belong to accounts, not to the people of a front end.")]
    DocumentsOfAccounts,
    #[error("A collection can be shared with {count} groups.")]
    TooManyGroupsShared { count: u64 },
    #[error("A collection can be shared with {count} people by name.")]
    TooManyPeopleShared { count: u64 },
    #[error("You can share it with groups that you are in.")]
    NotYourGroup,
    #[error("This is the address of its owner.")]
    OwnersAddress,

    // Documents.
    #[error("The file is empty.")]
    EmptyFile,
    #[error("`name` must be the name of a file, 1 to {limit} bytes.")]
    BadFileName { limit: u64 },
    #[error("Your documents may have {limit} MB together. Delete some first.")]
    DocumentsTooLarge { limit: u64 },
    #[error("There is nothing like that to do with such a document of yours.")]
    NothingToDo,
    #[error("There is no such document in this collection.")]
    NoSuchDocument,
    #[error(
        "You have {count} files that you have not sent, which is the most there may be. Send some first."
    )]
    TooManyUnsent { count: u64 },
    #[error("The document is gone, or not shared with you. Take it off the message.")]
    DocumentGone,
    #[error(
        "`types` may have {endings} endings of names without their dots, 1 to {letters} letters each."
    )]
    BadTypes { endings: u64, letters: u64 },

    // Sites.
    #[error("Pages of the web are not read on this server (web.fetch).")]
    PagesNotRead,
    #[error("{count} of your sites are being read, which is the most at a time.")]
    TooManyCrawls { count: u64 },
    #[error("There is no such crawl that goes on.")]
    NoCrawlGoingOn,
    #[error("There is no such crawl that has ended.")]
    NoCrawlEnded,
    #[error("There is no copy of such a page, or it is not for you to see.")]
    NoCopyOfPage,

    // Graphs.
    #[error(
        "This server has no model for graphs. An administrator can name one: knowledge.graph_model."
    )]
    NoGraphModel,
    #[error("The documents speak of nothing like that (any more).")]
    NoSuchEntity,
    #[error("Something is not another name of itself.")]
    AliasOfItself,
    #[error("The graph has 1000 other names, which is as many as it may have.")]
    TooManyAliases,
    #[error("The graph database does not help: {why}.")]
    GraphDatabaseAway { why: LocalizedText },
    #[error("it cannot be reached")]
    GraphUnreachable,
    #[error("it does not answer in time")]
    GraphSlow,
    #[error("what answers there does not speak Bolt 4.4 or 5")]
    GraphNotBolt,
    #[error("it does not take the user name and the password")]
    GraphNotLetIn,
    #[error("it refused a query ({code})")]
    GraphRefused { code: String },
    #[error("its answer is too large")]
    GraphAnswerTooLarge,

    // The embedding model.
    #[error("It may have {limit} characters, and no NUL.")]
    BadPrefix { limit: u64 },
    #[error("Name the model that is to be tried.")]
    NoModelToTry,
}

impl CodedMessage for Knowledge {}
