//! A connection to a mail server, and its commands. Each is read up to its tagged answer, so that an answer that was cut off
//! or refused is never taken for an empty one.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use imap_proto::{AttributeValue, RequestId, Response, ResponseCode, Status};
use outbound::{Fault, Outbound};
use rustls::{ClientConfig, crypto::ring, pki_types::ServerName};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{
    ImapSecurity, ImapSettings, utf7,
    wire::{Transport, Wire},
};
use crate::{SourceProblem, problem::malformed};

/// The ports of IMAP.
const PLAIN_PORT: u16 = 143;
const TLS_PORT: u16 = 993;
/// Timeout of the greeting, of TLS and of the login.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);
/// Maximum size of an answer besides the content of a message, bytes.
const MAX_OVERHEAD_BYTES: usize = 256 << 10;

/// A connection after the login.
pub(super) struct Connection {
    wire: Wire,
    /// The selected folder with its `UIDVALIDITY`.
    selected: Option<(String, u32)>,
}

/// What proves who the user is.
#[derive(Clone, Copy)]
pub(super) enum Proof<'a> {
    Password(&'a str),
    /// An OAuth access token.
    Token(&'a str),
}

/// What a command leads to.
enum Outcome {
    Done,
    /// The server does not do it. What it says why.
    No(String),
}

/// A command that came to its end.
struct Finished {
    outcome: Outcome,
    /// Whether there was an answer that cannot be read.
    has_unread: bool,
}

impl Connection {
    /// Connects and logs in.
    pub(super) async fn open(
        settings: &ImapSettings,
        proof: Proof<'_>,
        outbound: &Outbound,
    ) -> Result<Self, SourceProblem> {
        let usual = match settings.security {
            ImapSecurity::Tls => TLS_PORT,
            ImapSecurity::StartTls | ImapSecurity::Plain => PLAIN_PORT,
        };
        let port = settings.port.unwrap_or(usual);
        let ports = [PLAIN_PORT, TLS_PORT];
        let stream = outbound.connect(&settings.host, port, &ports).await?;
        let login = async {
            let mut wire = greeted(settings, stream).await?;
            log_in(&mut wire, &settings.user, proof).await?;
            Ok(Self {
                wire,
                selected: None,
            })
        };
        let done = tokio::time::timeout(LOGIN_TIMEOUT, login).await;
        done.unwrap_or(Err(Fault::Slow.into()))
    }

    /// Selects a folder for reading. Returns its `UIDVALIDITY`.
    pub(super) async fn select(&mut self, folder: &str) -> Result<u32, SourceProblem> {
        if let Some((selected, validity)) = &self.selected
            && selected == folder
        {
            return Ok(*validity);
        }
        self.selected = None;
        let mut validity = None;
        let command = format!("EXAMINE {}", quoted(&utf7::encode(folder)));
        let finished = self.command(&command, MAX_OVERHEAD_BYTES, |response| {
            if let Response::Data { outcome, .. } = response
                && let Some(ResponseCode::UidValidity(number)) = outcome.code
            {
                validity = Some(number);
            }
        });
        match finished.await?.outcome {
            Outcome::No(_) => Err(SourceProblem::NotFound),
            Outcome::Done => {
                let validity = validity.ok_or_else(|| malformed("a folder has no UIDVALIDITY"))?;
                self.selected = Some((folder.to_owned(), validity));
                Ok(validity)
            }
        }
    }

    /// Runs a command that must succeed. `each` sees all answers that can be read. Returns whether these are all.
    pub(super) async fn run(
        &mut self,
        command: &str,
        bytes: usize,
        each: impl FnMut(&Response<'_>),
    ) -> Result<bool, SourceProblem> {
        let finished = self.command(command, bytes, each).await?;
        match finished.outcome {
            Outcome::Done => Ok(!finished.has_unread),
            Outcome::No(_) => Err(malformed("the server refuses to list the folder")),
        }
    }

    /// Reads a message. The connection is lost with an error, but not with a message that cannot be read.
    pub(super) async fn read(
        mut self,
        folder: &str,
        validity: u32,
        uid: u32,
        limit: usize,
    ) -> Result<(Self, Result<Bytes, SourceProblem>), SourceProblem> {
        match self.select(folder).await {
            Ok(now) if now == validity => {}
            Ok(_) | Err(SourceProblem::NotFound) => return Ok((self, Err(SourceProblem::Gone))),
            Err(problem) => return Err(problem),
        }
        let mut content = None;
        let command = format!("UID FETCH {uid} (UID BODY.PEEK[])");
        let bytes = limit.saturating_add(MAX_OVERHEAD_BYTES);
        let finished = self.command(&command, bytes, |response| {
            if let Some((found, body)) = message(response)
                && found == uid
            {
                content = Some(body.map(Bytes::copy_from_slice));
            }
        });
        let finished = finished.await?;
        let is_gone = matches!(finished.outcome, Outcome::Done) && !finished.has_unread;
        let content = match content {
            Some(Some(content)) if content.len() > limit => Err(SourceProblem::TooLarge),
            Some(Some(content)) => Ok(content),
            None if is_gone => Err(SourceProblem::Gone),
            _ => Err(malformed("the server does not show the message")),
        };
        Ok((self, content))
    }

    async fn command(
        &mut self,
        command: &str,
        bytes: usize,
        mut each: impl FnMut(&Response<'_>),
    ) -> Result<Finished, SourceProblem> {
        let running = async {
            let tag = self.wire.send(command).await?;
            let mut has_unread = false;
            let outcome = self.wire.receive(bytes, |response| {
                let flow = outcome(response, &tag);
                match response {
                    Some(response) if flow.is_continue() => each(response),
                    Some(_) => {}
                    None => has_unread = true,
                }
                flow
            });
            let outcome = outcome.await??;
            Ok(Finished {
                outcome,
                has_unread,
            })
        };
        let done = tokio::time::timeout(COMMAND_TIMEOUT, running).await;
        done.unwrap_or(Err(Fault::Slow.into()))
    }
}

/// Breaks at the answer to the command with this tag.
fn outcome(
    response: Option<&Response<'_>>,
    tag: &RequestId,
) -> ControlFlow<Result<Outcome, SourceProblem>> {
    match response {
        Some(Response::Done {
            tag: found,
            status,
            outcome,
        }) if found == tag => ControlFlow::Break(match status {
            Status::Ok => Ok(Outcome::Done),
            Status::No => {
                let reason = outcome.information.as_deref().unwrap_or_default();
                Ok(Outcome::No(reason.to_owned()))
            }
            _ => Err(malformed("the server does not know a command")),
        }),
        _ => ControlFlow::Continue(()),
    }
}

/// The UID of a message and its content, which some servers leave out.
fn message<'a>(response: &'a Response<'_>) -> Option<(u32, Option<&'a [u8]>)> {
    let Response::Fetch(_, attributes) = response else {
        return None;
    };
    let uid = attributes.iter().find_map(|attribute| match attribute {
        AttributeValue::Uid(uid) => Some(*uid),
        _ => None,
    });
    let body = attributes.iter().find_map(|attribute| match attribute {
        AttributeValue::BodySection {
            section: None,
            data,
            ..
        } => Some(data.as_deref()),
        _ => None,
    });
    Some((uid?, body?))
}

/// Whether a text is the name of a host or an address.
pub(super) fn is_host(host: &str) -> bool {
    ServerName::try_from(host).is_ok()
}

/// Encrypts the connection and waits for the greeting.
async fn greeted(settings: &ImapSettings, stream: TcpStream) -> Result<Wire, SourceProblem> {
    match settings.security {
        ImapSecurity::Plain => greet(Wire::new(stream)).await,
        ImapSecurity::Tls => greet(Wire::new(encrypted(&settings.host, stream).await?)).await,
        ImapSecurity::StartTls => {
            let mut wire = greet(Wire::new(stream)).await?;
            let tag = wire.send("STARTTLS").await?;
            let started = wire.receive(MAX_OVERHEAD_BYTES, |response| outcome(response, &tag));
            match started.await? {
                Ok(Outcome::Done) => {}
                _ => return Err(malformed("the server does not support STARTTLS")),
            }
            // What was sent in the clear after the answer is dropped.
            let stream = encrypted(&settings.host, wire.into_stream()).await?;
            Ok(Wire::new(stream))
        }
    }
}

async fn greet(mut wire: Wire) -> Result<Wire, SourceProblem> {
    let greeting = wire.receive(MAX_OVERHEAD_BYTES, |response| {
        ControlFlow::Break(match response {
            Some(Response::Data {
                status: Status::Ok, ..
            }) => Ok(()),
            // It has too many connections, or no time.
            Some(Response::Data {
                status: Status::Bye,
                ..
            }) => Err(SourceProblem::Limited),
            _ => Err(malformed("this is no mail server that asks for a login")),
        })
    });
    greeting.await??;
    Ok(wire)
}

async fn encrypted<S: Transport>(
    host: &str,
    stream: S,
) -> Result<impl Transport + use<S>, SourceProblem> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(unreachable)?
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(unreachable)?;
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream);
    connected.await.map_err(unreachable)
}

/// Details are only logged.
fn unreachable(error: impl std::fmt::Display) -> SourceProblem {
    tracing::debug!(%error, "TLS with a mail server failed");
    Fault::Unreachable.into()
}

async fn log_in(wire: &mut Wire, user: &str, proof: Proof<'_>) -> Result<(), SourceProblem> {
    let (command, answers) = login_command(user, proof);
    let mut answers = answers.into_iter();
    let tag = wire.send(&command).await?;
    loop {
        let step = wire.receive(MAX_OVERHEAD_BYTES, |response| match response {
            Some(Response::Continue(_)) => ControlFlow::Break(None),
            response => match outcome(response, &tag) {
                ControlFlow::Break(outcome) => ControlFlow::Break(Some(outcome)),
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
            },
        });
        let Some(outcome) = step.await? else {
            let answer = answers.next();
            let answer =
                answer.ok_or_else(|| malformed("the server asks for more than a login"))?;
            wire.send_line(&answer).await?;
            continue;
        };
        return match outcome? {
            Outcome::Done => Ok(()),
            Outcome::No(reason) if reason.contains("UNAVAILABLE") => Err(SourceProblem::Limited),
            Outcome::No(_) => Err(SourceProblem::Refused),
        };
    }
}

/// The command, and what to answer when the server asks for more.
fn login_command(user: &str, proof: Proof<'_>) -> (String, Vec<String>) {
    match proof {
        Proof::Token(token) => {
            let message = format!("user={user}\x01auth=Bearer {token}\x01\x01");
            // The second one acknowledges the error that is sent instead of an end.
            let answers = vec![BASE64_STANDARD.encode(message), String::new()];
            ("AUTHENTICATE XOAUTH2".to_owned(), answers)
        }
        // A quoted string is ASCII only. SASL PLAIN (RFC 4616) is not.
        Proof::Password(password) if !user.is_ascii() || !password.is_ascii() => {
            let message = format!("\0{user}\0{password}");
            let answers = vec![BASE64_STANDARD.encode(message)];
            ("AUTHENTICATE PLAIN".to_owned(), answers)
        }
        Proof::Password(password) => {
            let command = format!("LOGIN {} {}", quoted(user), quoted(password));
            (command, Vec::new())
        }
    }
}

/// A quoted string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
