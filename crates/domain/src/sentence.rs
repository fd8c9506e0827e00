//! Messages for people, each with a code for translation. Their English texts exist only here.

use serde::{Deserialize, Serialize};

use crate::Words;

/// A message, or a part of one, by its code. Codes and parameter names are stable; texts may change. The web app has
/// Russian for each (`web/src/i18n/sentences.ru.ts`), and its tests fail if one is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each says itself what it says")]
pub enum Sentence {
    // Current activity.
    #[error("Thinking…")]
    Thinking,
    #[error("Summing up older steps…")]
    SummingUp,
    #[error("Asking the model again in {seconds} s…")]
    AskingAgain { seconds: u64 },
    #[error("Running {count} tools…")]
    RunningTools { count: u64 },
    #[error("Planning…")]
    Planning,
    #[error("Turn {turn} - Searching…")]
    SearchingInTurn { turn: u32 },
    #[error("Turn {turn} - Reading {count} {}…", noun(*count, "source", "sources"))]
    ReadingInTurn { turn: u32, count: u64 },
    #[error("Writing the report…")]
    WritingReport,
    #[error("Looking for what to search…")]
    LookingFor,
    #[error("Searching {count} {}…", noun(*count, "query", "queries"))]
    SearchingQueries { count: u64 },
    #[error("Reading {count} {}…", noun(*count, "page", "pages"))]
    ReadingPages { count: u64 },
    #[error("Answering again with all answers in view, {layer} of {layers}…")]
    Layer { layer: u32, layers: u32 },

    // Limits of a run.
    #[error("The run")]
    TheRun,
    #[error("The agent")]
    TheAgent,
    #[error("The agent took {count} steps, which is its limit. It ends with what it has.")]
    LimitSteps { count: u32 },
    #[error("The agent took {count} steps of {limit}. It ends with what it has.")]
    LimitStepsNear { count: u32, limit: u32 },
    #[error(
        "{who} took {count} steps with all its agents and its limit is {limit}. It ends with what it has."
    )]
    LimitAllSteps { who: Words, count: u64, limit: u64 },
    #[error("{who} used {count} tokens and its limit is {limit}. It ends with what it has.")]
    LimitTokens { who: Words, count: u64, limit: u64 },
    #[error("{who} cost {cost} and its limit is {limit}. It ends with what it has.")]
    LimitCost {
        who: Words,
        cost: String,
        limit: String,
    },
    #[error("{who} worked for {seconds} seconds, which is its limit. It ends with what it has.")]
    LimitTime { who: Words, seconds: u64 },
    #[error("{who} worked for {seconds} of the {limit} seconds it has. It ends with what it has.")]
    LimitTimeNear {
        who: Words,
        seconds: u64,
        limit: u64,
    },
    #[error("The answer reached {count} tokens, the limit that was asked for, and is cut.")]
    LimitAnswer { count: u64 },

    // Hooks of the administrator.
    #[error("The hook “{hook}” stopped the run: {reason}")]
    HookStopped { hook: String, reason: String },
    #[error("The hook “{hook}” withheld the answer: {reason}")]
    HookWithheld { hook: String, reason: String },

    // Limits of accounts, and permissions that were removed.
    #[error("{who} has reached its limit of {most} a {span}. It begins again in {wait}.")]
    LimitAccount {
        who: Words,
        most: Words,
        span: Words,
        wait: Words,
    },
    #[error("This account")]
    ThisAccount,
    #[error("A group of this account")]
    GroupOfAccount,
    #[error("This key")]
    ThisKey,
    #[error("This person")]
    ThisPerson,
    #[error("{count} requests")]
    Requests { count: u64 },
    #[error("{count} tokens")]
    Tokens { count: u64 },
    #[error("minute")]
    Minute,
    #[error("day")]
    Day,
    #[error("month")]
    Month,
    #[error("{count} seconds")]
    Seconds { count: u64 },
    #[error("{count} minutes")]
    Minutes { count: u64 },
    #[error("{count} hours")]
    Hours { count: u64 },
    #[error("{count} days")]
    Days { count: u64 },
    #[error(
        "You may not use the model {name} any more: an administrator has changed what is for whom."
    )]
    ModelNotYours { name: String },
    #[error(
        "You may not use the agent {name} any more: an administrator has changed what is for whom."
    )]
    AgentNotYours { name: String },
    #[error(
        "You may not use the workspace {name} any more: an administrator has changed what is for whom."
    )]
    WorkspaceNotYours { name: String },

    // Answers of models.
    #[error(
        "This model does not take the pictures, sounds or videos of this conversation, so it was asked without them."
    )]
    MediaLeftOut,
    #[error("The model was asked without “{name}”, which it does not accept here.")]
    ParameterLeftOut { name: String },
    #[error(
        "This model's server does not take all of the schemas of these tools, so the model is told simpler ones: {tools}. Their \
         arguments are checked as before."
    )]
    ToolsSimplified { tools: String },
    #[error("This model's server refuses these tools, so the model does without them: {tools}.")]
    ToolsLeftOut { tools: String },
    #[error(
        "There are more tools than this model's server takes: {listed} of {all} are listed, the others are found by search."
    )]
    ToolsBySearch { listed: u64, all: u64 },
    #[error("The model was asked without some of the stop sequences, which it does not accept.")]
    StopSequencesLeftOut,
    #[error("The arguments of {tool} were not valid as the model wrote them, and were repaired.")]
    ArgumentsRepaired { tool: String },
    #[error("The model called \"{written}\"; the tool {tool} was meant.")]
    ToolNameRepaired { written: String, tool: String },
    #[error("The model gave an empty answer.")]
    EmptyAnswer,
    #[error(
        "A picture that the model has made is too large to be kept: {size} bytes of at most {limit}."
    )]
    MadePictureTooLarge { size: u64, limit: u64 },
    #[error("A picture that the model has made cannot be read, and is not shown.")]
    MadePictureUnreadable,
    #[error("The model reached its limit on written tokens; the answer may be cut.")]
    AnswerCut,
    #[error("The model server's content filter cut the answer.")]
    AnswerFiltered,
    #[error("The model server ended its answer without saying that it was done.")]
    AnswerWithoutEnd,
    #[error("The answer is not in the form that was asked for, so it is written again: {fault}.")]
    AnswerNotInForm { fault: String },
    #[error("The model did not write its answer in the form that was asked for: {fault}.")]
    AnswerNeverInForm { fault: String },
    #[error("{before} could not be asked, so {after} is asked instead. {why}")]
    OtherModel {
        before: String,
        after: String,
        why: Words,
    },
    #[error("No summary of the older steps could be had, so they are left out: {why}")]
    NoSummary { why: Words },
    #[error("The model server finds even parts of them too long.")]
    PartsTooLong,
    #[error("{name} did not answer. {why}")]
    NoAnswerOf { name: String, why: Words },
    #[error("Nobody answered in this layer: the one before counts.")]
    NobodyAnswered,

    // Unusable output of a pipeline's model, which reads these, too.
    #[error("there is no title")]
    TitleMissing,
    #[error("the title has several lines")]
    TitleOfLines,
    #[error("the title has no words, or far too many")]
    TitleWithoutWords,
    #[error("the title has to have 3 to 5 words")]
    TitleTooShort,
    #[error("the title is not in the language of the chat")]
    TitleInOtherLanguage,
    #[error("there are no tags")]
    TagsMissing,
    #[error("there are no follow_ups")]
    FollowUpsMissing,
    #[error("there is no JSON object with {field}")]
    JsonMissing { field: String },
    #[error("{fault}; {more}")]
    FaultAndMore { fault: Words, more: Words },

    // Research, and retrieval before an answer.
    #[error("The model wrote no report. These are the notes.")]
    NoReport,
    #[error("It ended before the report. These are the notes so far.")]
    NotesSoFar,
    #[error("The report cites no source: nothing shows where it comes from.")]
    CitesNothing,
    #[error(
        "{verified} of {count} cited notes have a quote that was found word for word in the source."
    )]
    QuotesFound { verified: u64, count: u64 },
    #[error(
        "There is nothing to research in: no collection of documents that you may search, and no web search. Make a \
         collection first, or ask whoever runs this server."
    )]
    NothingToResearchIn,
    #[error("The web cannot be searched here. This is answered without.")]
    NoWebHere,

    // Unintended ends of runs.
    #[error("The server was restarted during this run. What it wrote is kept; ask again to go on.")]
    Interrupted,
    #[error(
        "The server stopped during this run again and again, so it was ended. What it wrote is kept; ask again to go on."
    )]
    GivenUp,
    #[error("The server was restarted during this run, and the model {name} is no longer there.")]
    ModelGone { name: String },
    #[error("The run met a fault in the server and had to end. What it wrote is kept.")]
    FaultOfServer,
    #[error("The log could not be stored, so the run was stopped.")]
    NotStored,

    // MCP servers.
    #[error(
        "The MCP server “{name}” cannot be reached now, so this run goes on without its tools."
    )]
    McpServerAway { name: String },
    #[error(
        "Your sign-in to the MCP server “{name}” has ended, so this run goes on without its tools. Sign in again in \
         Settings → Tools."
    )]
    McpSignInEnded { name: String },
    #[error("The MCP server “{name}” has too many connections now.")]
    McpServerFull { name: String },
    #[error("The MCP server “{name}” cannot be connected to.")]
    McpServerFails { name: String },

    // Model servers.
    /// With the server's own message.
    #[error("{words} It says: {quote}")]
    Saying { words: Words, quote: String },
    #[error("{why} {name} is asked instead.")]
    OtherServer { why: Words, name: String },
    #[error("{why} Another key of {name} is used.")]
    OtherKey { why: Words, name: String },
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
    ModelSilent { waited: Words },
    #[error(
        "The model server stopped in the middle of the answer: nothing came for {waited}. Try again."
    )]
    ModelWentSilent { waited: Words },
    #[error("{count} ms")]
    ShortMilliseconds { count: u64 },
    #[error("{count} s")]
    ShortSeconds { count: u64 },
    #[error("The certificate of {server} is not trusted: {why}")]
    CertificateNotTrusted { server: String, why: String },
    #[error("There is no server at {server}: its name is not known. Check the address.")]
    ServerNameUnknown { server: String },
    #[error("Nothing answers at {server}. Is the model server running, and is the address right?")]
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
    #[error("The model server wants a key. Enter one for this connection.")]
    KeyWanted,
    #[error("The model server does not allow this key to use the model.")]
    KeyNotAllowed,
    #[error("The model server refused the key. Check the key of this connection.")]
    KeyRefused,
    #[error("The account at the model server has no credit left.")]
    NoCredit,
    #[error("The model server asks to slow down. Wait a little and try again.")]
    SlowDown,
    #[error("{server} sends on to {to}. Enter that server's address instead.")]
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
    #[error("“{model}” has no model server.")]
    NoModelServer { model: String },
    #[error("{words} Did you mean {names}?")]
    DidYouMean { words: Words, names: String },
    #[error(
        "{model} makes no vectors of texts: its connection is of the kind {kind}. Name an embedding model."
    )]
    NoEmbeddings { model: String, kind: String },
    #[error("The answer of {model} is of no use: {why}.")]
    UselessAnswer { model: String, why: String },
    #[error("The answer of {model} has more than {limit} MB.")]
    AnswerOver { model: String, limit: u64 },
    #[error("The model did not finish its answer within {seconds} s.")]
    NotFinishedWithin { seconds: u64 },
    #[error("The model server reported an error: {quote}")]
    ModelReported { quote: String },
    #[error("The model server at {server} sent something that is not the OpenAI protocol: {quote}")]
    NotTheProtocol { server: String, quote: String },
    #[error(
        "The model server sent more than {limit} MB in one answer. Try again or use another model."
    )]
    AnswerTooLong { limit: u64 },
    #[error("The conversation of this run is longer than {limit} MB.")]
    ConversationTooLong { limit: u64 },
    #[error(
        "The model server sent a single event of more than {limit} MB, which is not the protocol."
    )]
    EventTooLong { limit: u64 },
    #[error("The model server gave up in the middle of the answer. Try again.")]
    GaveUpInAnswer,
    #[error("The model server answers texts and does not continue them.")]
    AnswersTexts,
    #[error("The model server is tried again just now.")]
    TriedJustNow,
    #[error("{name} failed again and again and is left alone for {seconds} s.")]
    LeftAlone { name: String, seconds: u64 },
    /// With the last failure.
    #[error("{words} {why}")]
    Because { words: Words, why: Words },

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
    OnlyWords { why: Words },
    #[error("The best were not looked at once more: {why}")]
    NotRanked { why: Words },

    // Pages of the web.
    #[error(
        "It is no address that can be asked: it must begin with https:// and have no user name in it."
    )]
    NoAddress,
    #[error(
        "It leads to this machine, into a private network or to a port that is not for the web, which only an administrator \
         can allow (outbound.allow)."
    )]
    AddressNotAllowed,
    #[error("It cannot be reached.")]
    Unreachable,
    #[error("It does not answer in time.")]
    Slow,
    #[error("It redirects too often.")]
    TooManyRedirects,
    #[error("Its answer is too large.")]
    AnswerTooLarge,
    #[error("Its answer is compressed, although that was not asked for.")]
    AnswerCompressed,
    #[error("The connection was lost in the middle of its answer.")]
    AnswerCutOff,
    #[error(
        "The site's robots.txt asks programs not to read this page, so it was not read. Use another source."
    )]
    RobotsRefuse,
    #[error("There is no page at this address (HTTP {status}).")]
    NoPage { status: u16 },
    #[error("The site does not let us read this page (HTTP {status}). Use another source.")]
    PageClosed { status: u16 },
    #[error("The site asks us to wait (HTTP 429). Try it later, or use another source.")]
    SiteBusy,
    #[error("The site's server has a fault (HTTP {status}). It may work later.")]
    SiteFault { status: u16 },
    #[error("The site answered without a page (HTTP {status}).")]
    WithoutPage { status: u16 },
    #[error("At this address is no text but {what}, which cannot be read.")]
    NotText { what: Words },
    #[error("a picture")]
    APicture,
    #[error("sound or film")]
    SoundOrFilm,
    #[error("The site answered without an image (HTTP {status}).")]
    NoImage { status: u16 },
    #[error("This is not a PNG, JPEG, GIF or WebP image.")]
    NotImage,
    #[error("The page came, but cannot be read. {why}")]
    PageUnreadable { why: Words },
    #[error("The page shows nothing until its scripts have run, and {why}")]
    PageNeedsScripts { why: Words },
    #[error("they did not end in time.")]
    ScriptsSlow,
    #[error("they took more memory or disk space than one page may use.")]
    ScriptsTooLarge,
    #[error("the browser of this server could not be started.")]
    BrowserNotStarted,
    #[error("the browser of this server failed at it.")]
    BrowserFailed,
    #[error("the browser cannot be started on this system.")]
    BrowserNotHere,
    #[error("Crawl4AI did not bring it: {why}.")]
    Crawl4aiFailed { why: String },
    #[error(
        "No search of the web is set up on this server. An administrator can name one (web.search)."
    )]
    NoWebSearch,
    #[error("A search needs 1 to {limit} characters.")]
    BadWebQuery { limit: u64 },
    #[error("The search did not work: {why}")]
    WebSearchFailed { why: String },
    #[error("The server could not do it because of a fault of its own.")]
    OwnFault,
    #[error("A collection has at most {count} documents.")]
    CollectionFull { count: u64 },
    #[error("There is no room left for your documents. Delete some first.")]
    NoRoomForDocuments,

    // Connections.
    #[error("This key cannot be read with this server's key file. Enter it again.")]
    KeyUnreadable,
}

fn noun(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural() {
        assert_eq!(
            Sentence::ReadingPages { count: 1 }.to_string(),
            "Reading 1 page…"
        );
        assert_eq!(
            Sentence::SearchingQueries { count: 2 }.to_string(),
            "Searching 2 queries…"
        );
    }
}
