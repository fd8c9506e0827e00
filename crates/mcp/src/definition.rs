//! The validated configuration of a server: its name, transport and tools.

use std::{fmt, path::PathBuf, time::Duration};

use crate::bearer::Bearer;

/// One MCP server.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The first part of its tools' names: letters, digits, `_` and `-`.
    pub name: String,
    /// The transport.
    pub way: Transport,
    /// The only tools to use, by their own names; empty for all.
    pub only: Vec<String>,
    /// The idle timeout of a call.
    pub call_timeout: Duration,
}

/// The transport of a server.
#[derive(Debug, Clone)]
pub enum Transport {
    /// A program of this machine, over its standard input and output.
    Stdio(Program),
    /// A remote server, over streamable HTTP.
    Http(Endpoint),
}

/// A program to start.
#[derive(Clone)]
pub struct Program {
    /// Its name or path.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All of its environment.
    pub environment: Vec<(String, String)>,
    /// Its working directory; `None` for ours.
    pub folder: Option<PathBuf>,
}

/// An HTTP endpoint.
#[derive(Clone)]
pub struct Endpoint {
    /// The URL.
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// The HTTP client; must not follow redirects, as the headers may hold keys.
    pub client: reqwest::Client,
    /// The token of the connection's person; `None` to send only the headers.
    pub bearer: Option<Bearer>,
}

impl Definition {
    /// `text` without the values of headers and variables, which may be keys, and without tokens.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let values = match &self.way {
            Transport::Stdio(program) => &program.environment,
            Transport::Http(site) => &site.headers,
        };
        // Short values are no keys, and redacting them would garble the sentence.
        let keys = values
            .iter()
            .filter(|(name, value)| value.len() >= 8 && !HARMLESS.contains(&name.as_str()));
        let text = keys.fold(text.to_owned(), |text, (_, value)| {
            text.replace(value, "[secret]")
        });
        match &self.way {
            Transport::Http(Endpoint {
                bearer: Some(bearer),
                ..
            }) => bearer.redact(&text),
            _ => text,
        }
    }

    /// The server's message, without the credentials that we have sent. The environment of a local program, such as its
    /// working directory, may appear in its messages.
    #[must_use]
    pub fn redact_said(&self, text: &str) -> String {
        match &self.way {
            Transport::Stdio(_) => text.to_owned(),
            Transport::Http(_) => self.redact(text),
        }
    }
}

/// Variables that every program gets.
const HARMLESS: [&str; 3] = ["HOME", "LANG", "PATH"];

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .environment
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .field("environment", &names)
            .field("folder", &self.folder)
            .finish()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Site")
            .field("url", &self.url)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_shown() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = vec![
            pair("TOKEN", "abcd-1234-efgh"),
            pair("PATH", "/usr/local/bin"),
            pair("N", "1"),
        ];
        let program = Program {
            command: "x".into(),
            arguments: Vec::new(),
            environment,
            folder: None,
        };
        let definition = Definition {
            name: "a".into(),
            way: Transport::Stdio(program),
            only: Vec::new(),
            call_timeout: Duration::from_secs(1),
        };
        assert!(!format!("{definition:?}").contains("1234"));
        let text = definition.redact("1 bad key abcd-1234-efgh in /usr/local/bin");
        assert_eq!(text, "1 bad key [secret] in /usr/local/bin");
    }
}
