//! Problems of a server as codes, so that they can be translated; `Display` is English, for the log.

/// A problem of a server. A working server may have problems as well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each says itself what it says")]
pub enum Problem {
    #[error("The program {program} could not be started: {why}.")]
    NotStarted { program: String, why: String },
    #[error("The header {name} cannot be sent.")]
    BadHeader { name: String },
    #[error("The server did not answer within {seconds} seconds.")]
    NoAnswer { seconds: u64 },
    #[error("The server ended at once.")]
    EndedAtOnce,
    #[error("The server ended the connection.")]
    Ended,
    #[error("The server cannot be used: {0}.")]
    Unusable(Fault),
    #[error("The server refuses the connection: {quote}.")]
    Refuses { quote: String },
    #[error("The server supports none of our versions of the protocol.")]
    OtherVersions,
    #[error("The server did not start the session as an MCP server does.")]
    NoMcpServer,
    #[error("The server does not list its tools: {0}.")]
    NotListed(Fault),
    #[error("The server sent an invalid list of tools.")]
    NoList,
    #[error("The server no longer answers: {0}.")]
    Silent(Fault),
    #[error("The tool “{name}” cannot be used: {why}.")]
    ToolLeftOut { name: String, why: LeftOut },
    #[error("{count} more of its tools cannot be used.")]
    MoreLeftOut { count: u64 },
    #[error("Only {count} pages of its list of tools are read.")]
    PagesLeftOut { count: u64 },
    /// With the program's last line of output.
    #[error("{problem} It said: {quote}")]
    Saying { problem: Box<Self>, quote: String },
}

/// Why a request failed, a part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each says itself what it says")]
pub enum Fault {
    /// In the words of the server.
    #[error("{0}")]
    Quote(String),
    #[error("the connection was closed")]
    Closed,
    #[error("it took too long")]
    TooLong,
    #[error("it sent an unexpected answer")]
    SomethingElse,
    #[error("it requires a key or a sign-in, or a different one")]
    WantsSignIn,
    #[error("the key or sign-in does not have permission")]
    NotAllowed,
    #[error("it answered with HTTP {0}")]
    Status(u16),
    #[error("it answered with {0}, not as an MCP server; check the address")]
    Kind(String),
    #[error("it did not answer as an MCP server; check the address")]
    NotMcp,
}

/// Why a tool is left out, a part of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each says itself what it says")]
pub enum LeftOut {
    #[error("its name is invalid")]
    BadName,
    #[error("there are too many tools")]
    TooMany,
    #[error("another tool has this name")]
    NameTaken,
    #[error("it has no schema")]
    NoSchema,
    #[error("its schema is too deep")]
    SchemaTooDeep,
    #[error("its schema is too large")]
    SchemaTooLarge,
    #[error("the server does not offer it")]
    NotOffered,
}

impl Problem {
    /// The same, with foreign text passed through `redact`.
    pub(crate) fn redacted(self, redact: &impl Fn(&str) -> String) -> Self {
        let fault = |fault: Fault| match fault {
            Fault::Quote(words) => Fault::Quote(redact(&words)),
            Fault::Kind(kind) => Fault::Kind(redact(&kind)),
            fault => fault,
        };
        match self {
            Self::NotStarted { program, why } => Self::NotStarted {
                program: redact(&program),
                why: redact(&why),
            },
            Self::Refuses { quote } => Self::Refuses {
                quote: redact(&quote),
            },
            Self::Unusable(why) => Self::Unusable(fault(why)),
            Self::NotListed(why) => Self::NotListed(fault(why)),
            Self::Silent(why) => Self::Silent(fault(why)),
            Self::ToolLeftOut { name, why } => Self::ToolLeftOut {
                name: redact(&name),
                why,
            },
            Self::Saying { problem, quote } => Self::Saying {
                problem: Box::new(problem.redacted(redact)),
                quote: redact(&quote),
            },
            problem => problem,
        }
    }
}
