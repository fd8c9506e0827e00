//! Messages: what model servers do, and why a request to one failed.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// What model servers do, and why a request to one failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Models {
    // Answers of models.
    #[error(
        "This model does not accept the pictures, sounds or videos of this conversation, so it was asked without them."
    )]
    MediaLeftOut,

    // Model servers.
    #[error("{words} It says: {quote}")]
    Saying { words: LocalizedText, quote: String },
    #[error("{why} {name} is used instead.")]
    OtherServer { why: LocalizedText, name: String },
    #[error("{why} Another key of {name} is used.")]
    OtherKey { why: LocalizedText, name: String },
    #[error("Model servers cannot be reached: {why}.")]
    ModelServersUnreachable { why: String },
    #[error(
        "The model server closed the connection in the middle of the answer. Try again; if it keeps happening, look at \
         the server's own log."
    )]
    ModelBrokeOff,
    #[error(
        "The model server sent nothing for {waited}. It may still be loading the model, or be too busy; try again."
    )]
    ModelSilent { waited: LocalizedText },
    #[error(
        "The model server stopped in the middle of the answer: nothing came for {waited}. Try again."
    )]
    ModelWentSilent { waited: LocalizedText },
    #[error("{count} ms")]
    ShortMilliseconds { count: u64 },
    #[error("{count} s")]
    ShortSeconds { count: u64 },
    #[error("The certificate of {server} is not trusted: {why}")]
    CertificateNotTrusted { server: String, why: String },
    #[error("The host name of {server} could not be resolved. Check the address.")]
    ServerNameUnknown { server: String },
    #[error(
        "Could not connect to {server}. Is the model server running, and is the address right?"
    )]
    NothingAnswers { server: String },
    #[error("The model server at {server} closed the connection before it answered. Try again.")]
    ClosedBeforeAnswer { server: String },
    #[error("The model server has no model “{model}”.")]
    NoSuchModel { model: String },
    #[error(
        "There is no OpenAI-compatible API at {server}. Check the address; it often ends in /v1."
    )]
    NoApi { server: String },
    #[error("The model server took too long and gave up (408). Try again.")]
    ModelGaveUp,
    #[error("The conversation is too long for the model. The model server says: {quote}")]
    ContextFull { quote: String },
    #[error("The model server refused the request ({status}).")]
    ModelRefused { status: u16 },
    #[error("The model server failed ({status}). Try again later.")]
    ModelFailed { status: u16 },
    #[error("The model server requires a key. Enter one for this connection.")]
    KeyWanted,
    #[error("The model server does not allow this key to use the model.")]
    KeyNotAllowed,
    #[error("The model server refused the key. Check the key of this connection.")]
    KeyRefused,
    #[error("The account at the model server has no credit left.")]
    NoCredit,
    #[error("The model server asks to slow down. Wait a little and try again.")]
    SlowDown,
    #[error("{server} redirects to {to}. Enter that server's address instead.")]
    SendsOn { server: String, to: String },
    #[error("{server} is not an OpenAI-compatible server: it answered with a redirect.")]
    AnswersRedirect { server: String },
    #[error(
        "{server} is not an OpenAI-compatible server: it answered with a web page. Check the address; it often ends in \
         /v1."
    )]
    AnswersWebPage { server: String },
    #[error(
        "{server} is not an OpenAI-compatible server: its list of models cannot be read. Check the address; it often ends \
         in /v1."
    )]
    NoModelList { server: String },
    #[error("{server} did not answer within {seconds} s.")]
    NoAnswerWithin { server: String, seconds: String },
    #[error(
        "{model} cannot create embeddings: its connection is of the kind {kind}. Name an embedding model."
    )]
    NoEmbeddings { model: String, kind: String },
    #[error(
        "{model} cannot transcribe recordings: its connection is of the kind {kind}. Name a model for transcription."
    )]
    NoTranscription { model: String, kind: String },
    #[error("The answer of {model} cannot be used: {why}.")]
    UselessAnswer { model: String, why: String },
    #[error("The answer of {model} is larger than {limit} MB.")]
    AnswerOver { model: String, limit: u64 },
    #[error("The model server reported an error: {quote}")]
    ModelReported { quote: String },
    #[error("The model server at {server} sent something that is not the OpenAI protocol: {quote}")]
    NotTheProtocol { server: String, quote: String },
    #[error(
        "The model server sent more than {limit} MB in one answer. Try again or use another model."
    )]
    AnswerTooLong { limit: u64 },
    #[error(
        "The model server sent a single event of more than {limit} MB, which is not the protocol."
    )]
    EventTooLong { limit: u64 },
    #[error("The model server gave up in the middle of the answer. Try again.")]
    GaveUpInAnswer,
    #[error("The model server supports chat, but not text completion.")]
    AnswersTexts,
    #[error("The model server is being tried again right now.")]
    TriedJustNow,
    #[error("{name} failed repeatedly and is not used for {seconds} s.")]
    LeftAlone { name: String, seconds: u64 },
    #[error("{words} {why}")]
    Because {
        words: LocalizedText,
        why: LocalizedText,
    },
}

impl CodedMessage for Models {}
