//! Messages: tools, MCP servers and the sign-in to them, and programs.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Tools, MCP servers and the sign-in to them, and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Tools {
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
    #[error("The program {program} cannot be started: {why}.")]
    McpNotStarted { program: String, why: String },
    #[error("The header {name} cannot be sent.")]
    McpBadHeader { name: String },
    #[error("The server did not answer within {seconds} seconds.")]
    McpNoAnswer { seconds: u64 },
    #[error("The server ended at once.")]
    McpEndedAtOnce,
    #[error("The server ended the connection.")]
    McpEnded,
    #[error("The server cannot be used: {why}.")]
    McpUnusable { why: LocalizedText },
    #[error("The server refuses the connection: {quote}.")]
    McpRefuses { quote: String },
    #[error("The server speaks none of the protocol's versions that we speak.")]
    McpOtherVersions,
    #[error("The server does not begin as an MCP server does.")]
    McpNoServer,
    #[error("The server does not list its tools: {why}.")]
    McpNotListed { why: LocalizedText },
    #[error("The server's list of tools is not a list.")]
    McpNoList,
    #[error("The server does not answer any more: {why}.")]
    McpSilent { why: LocalizedText },
    #[error("{problem} It said: {quote}")]
    McpSaying {
        problem: LocalizedText,
        quote: String,
    },

    // Why a request to one failed, parts of sentences.
    #[error("the connection was closed")]
    McpClosed,
    #[error("it took too long")]
    McpTooLong,
    #[error("it answered with something else")]
    McpSomethingElse,
    #[error("it wants a key or a sign-in, or another one")]
    McpWantsSignIn,
    #[error("the key or sign-in is not allowed this")]
    McpNotAllowed,
    #[error("it answers with HTTP {status}")]
    McpStatus { status: u16 },
    #[error("it answers with {kind}, not as an MCP server; check the address")]
    McpKind { kind: String },
    #[error("it answers not as an MCP server does; check the address")]
    McpNotMcp,

    // Tools that are left out, and why.
    #[error("The tool “{name}” cannot be used: {why}.")]
    McpToolLeftOut { name: String, why: LocalizedText },
    #[error("Of its tools, {count} more cannot be used.")]
    McpMoreLeftOut { count: u64 },
    #[error("Of its list of tools, only {count} pages are read.")]
    McpPagesLeftOut { count: u64 },
    #[error("its name is not one")]
    McpToolBadName,
    #[error("there are too many")]
    McpTooManyTools,
    #[error("there is another of this name")]
    McpToolNameTaken,
    #[error("it has no schema")]
    McpToolNoSchema,
    #[error("its schema is too deep")]
    McpToolSchemaTooDeep,
    #[error("its schema is too large")]
    McpToolSchemaTooLarge,
    #[error("the server does not offer it")]
    McpToolNotOffered,
    #[error("its names repeat what the server was sent to sign in")]
    McpToolNamesSecrets,

    // The sign-in to one.
    #[error("An address for signing in cannot be used. {why}")]
    SignInAddressUnusable { why: LocalizedText },
    #[error("It has no address.")]
    SignInNoAddress,
    #[error("It lets everybody in, so there is nothing to sign in to.")]
    SignInNotNeeded,
    #[error("What it says of signing in cannot be read.")]
    SignInUnreadable,
    #[error("It says that its tokens are for another server.")]
    SignInTokensElsewhere,
    #[error("It does not say who signs people in.")]
    SignInNobodyNamed,
    #[error("What signs people in to it does not say how.")]
    SignInNoWay,
    #[error("What signs people in to it does not say where.")]
    SignInNoPlace,
    #[error("What signs people in to it names itself otherwise than it is named.")]
    SignInOtherName,
    #[error("What signs people in to it does not protect the way back (PKCE with S256).")]
    SignInUnprotected,
    #[error(
        "What signs people in to it does not let us make ourselves known: an administrator has to make a client there and \
         give its id in oauth.client_id."
    )]
    SignInNotRegistered,
    #[error("What signs people in to it refuses to know us: HTTP {status}.")]
    SignInRefusesUs { status: u16 },
    #[error(
        "It names another sign-in than the one that its client_id and client_secret are meant for. If that is right, the \
         administrator has to name it as oauth.issuer: {issuer}"
    )]
    SignInOtherIssuer { issuer: String },

    // Programs.
    #[error("They are turned off in the configuration.")]
    ProgramsOff,
    #[error("Programs are run only on Linux, whose kernel can shut them in.")]
    ProgramsNotLinux,
    #[error("There is no Python 3 to use: {why}.")]
    ProgramsNoPython { why: String },
    #[error("The kernel does not allow a sandbox here: {why}.")]
    ProgramsKernel { why: String },
    #[error("The sandbox was tried and does not work: {why}.")]
    ProgramsBroken { why: String },
    #[error("Their folder cannot be made: {why}.")]
    ProgramsNoFolder { why: String },
}

impl CodedMessage for Tools {}
