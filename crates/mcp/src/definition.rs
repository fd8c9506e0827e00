//! Which server to connect to, and how: the checked form of what an administrator wrote.

use std::{fmt, path::PathBuf, time::Duration};

use crate::bearer::Bearer;

/// One MCP server.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The first part of its tools' names: letters, digits, `_` and `-`.
    pub name: String,
    /// How it is reached.
    pub way: Way,
    /// The only tools to take, by their own names; empty takes all.
    pub only: Vec<String>,
    /// How long a call may go without a sign of life.
    pub call_timeout: Duration,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Way {
    /// A program of this machine, over its standard input and output.
    Stdio(Program),
    /// A server that is running somewhere, over streamable HTTP.
    Http(Site),
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
    /// Where it runs; nothing means where we do.
    pub folder: Option<PathBuf>,
}

/// A server's address.
#[derive(Clone)]
pub struct Site {
    /// Where it listens.
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// What to send with; must not follow redirects, as the headers may hold keys.
    pub client: reqwest::Client,
    /// The token of the person whose connection it is; nothing where the headers are all.
    pub bearer: Option<Bearer>,
}

impl Definition {
    /// `text` without the values of its headers and variables, which may be keys, and without tokens.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let values = match &self.way {
            Way::Stdio(program) => &program.environment,
            Way::Http(site) => &site.headers,
        };
        // Short ones are no keys, and taking them out would spoil the sentence.
        let keys = values
            .iter()
            .filter(|(name, value)| value.len() >= 8 && !HARMLESS.contains(&name.as_str()));
        let text = keys.fold(text.to_owned(), |text, (_, value)| {
            text.replace(value, "[secret]")
        });
        match &self.way {
            Way::Http(Site {
                bearer: Some(bearer),
                ..
            }) => bearer.redact(&text),
            _ => text,
        }
    }

    /// What the server itself says, without what we have sent it to sign in. What a program of this machine has in its
    /// environment, such as the folder it works in, belongs to what it says.
    #[must_use]
    pub fn redact_said(&self, text: &str) -> String {
        match &self.way {
            Way::Stdio(_) => text.to_owned(),
            Way::Http(_) => self.redact(text),
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

impl fmt::Debug for Site {
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
            way: Way::Stdio(program),
            only: Vec::new(),
            call_timeout: Duration::from_secs(1),
        };
        assert!(!format!("{definition:?}").contains("1234"));
        let text = definition.redact("1 bad key abcd-1234-efgh in /usr/local/bin");
        assert_eq!(text, "1 bad key [secret] in /usr/local/bin");
    }
}
