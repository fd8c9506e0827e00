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
         Settings → Tool permissions and sign-ins."
    )]
    McpSignInEnded { name: String },
    #[error("The MCP server “{name}” has too many connections now.")]
    McpServerFull { name: String },
    #[error("Could not connect to the MCP server “{name}”.")]
    McpServerFails { name: String },
    #[error("The program {program} could not be started: {why}.")]
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
    #[error("The server supports none of our versions of the protocol.")]
    McpOtherVersions,
    #[error("The server did not start the session as an MCP server does.")]
    McpNoServer,
    #[error("The server does not list its tools: {why}.")]
    McpNotListed { why: LocalizedText },
    #[error("The server sent an invalid list of tools.")]
    McpNoList,
    #[error("The server no longer answers: {why}.")]
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
    #[error("it sent an unexpected answer")]
    McpSomethingElse,
    #[error("it requires a key or a sign-in, or a different one")]
    McpWantsSignIn,
    #[error("the key or sign-in does not have permission")]
    McpNotAllowed,
    #[error("it answered with HTTP {status}")]
    McpStatus { status: u16 },
    #[error("it answered with {kind}, not as an MCP server; check the address")]
    McpKind { kind: String },
    #[error("it did not answer as an MCP server; check the address")]
    McpNotMcp,

    // Tools that are left out, and why.
    #[error("The tool “{name}” cannot be used: {why}.")]
    McpToolLeftOut { name: String, why: LocalizedText },
    #[error("{count} more of its tools cannot be used.")]
    McpMoreLeftOut { count: u64 },
    #[error("Only {count} pages of its list of tools are read.")]
    McpPagesLeftOut { count: u64 },
    #[error("its name is invalid")]
    McpToolBadName,
    #[error("there are too many tools")]
    McpTooManyTools,
    #[error("another tool has this name")]
    McpToolNameTaken,
    #[error("it has no schema")]
    McpToolNoSchema,
    #[error("its schema is too deep")]
    McpToolSchemaTooDeep,
    #[error("its schema is too large")]
    McpToolSchemaTooLarge,
    #[error("the server does not offer it")]
    McpToolNotOffered,
    #[error("its names contain credentials that were sent to the server")]
    McpToolNamesSecrets,

    // The sign-in to one.
    #[error(
        "It names a different authorization server than the one that its client_id and client_secret are for. If that \
         is right, an administrator must set it as oauth.issuer: {issuer}"
    )]
    SignInOtherIssuer { issuer: String },

    // Programs.
    #[error("They are turned off in the configuration.")]
    ProgramsOff,
    #[error("Programs can run only on Linux, whose kernel can sandbox them.")]
    ProgramsNotLinux,
    #[error("There is no Python 3 to use: {why}.")]
    ProgramsNoPython { why: String },
    #[error("The kernel does not allow a sandbox here: {why}.")]
    ProgramsKernel { why: String },
    #[error("The sandbox was tried and does not work: {why}.")]
    ProgramsBroken { why: String },
    #[error("Their folder cannot be created: {why}.")]
    ProgramsNoFolder { why: String },
    #[error("No runner has ever been connected: start one with “glasshouse runner”.")]
    ProgramsNoRunner,
}

impl CodedMessage for Tools {}
