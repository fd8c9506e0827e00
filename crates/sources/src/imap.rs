//! Folders of an IMAP mailbox, whose messages become `.eml` files. Nothing in the mailbox is changed.

mod connection;
mod listing;
mod sign_in;
mod utf7;
mod wire;

use std::time::SystemTime;

use bytes::Bytes;
use outbound::Outbound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use self::{
    connection::{Connection, Proof},
    sign_in::{google, microsoft},
};
use crate::{
    Item, Listing, SettingProblem, SourceProblem, Surroundings,
    api::Tokens,
    http::{self, Client},
    problem::invalid,
};

/// Maximum number of folders.
const MAX_FOLDERS: usize = 100;
/// Maximum length of a name in the settings, bytes.
const MAX_NAME_BYTES: usize = 500;
/// Maximum number of days.
const MAX_DAYS: u32 = 36_500;
/// The folder that every mailbox has.
const INBOX: &str = "INBOX";

/// Folders of an IMAP mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ImapSettings {
    /// The host of the server.
    pub host: String,
    /// The port; absent for the usual one: 993 with TLS, else 143.
    #[serde(default)]
    pub port: Option<u16>,
    /// How the connection is encrypted.
    #[serde(default)]
    pub security: ImapSecurity,
    /// The user, often an email address.
    pub user: String,
    /// How to sign in, and what the secret is.
    #[serde(default)]
    pub sign_in: ImapSignIn,
    /// For Microsoft: the directory, by the ID of the tenant or one of its domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// For Microsoft: the application (client) ID of the app registration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The address that tokens are requested at, if it is not the usual one of Google or Microsoft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// The folders, as the server names them, such as `INBOX` or `Projects/2026`; empty for the inbox. Folders in them are
    /// not included.
    #[serde(default)]
    pub folders: Vec<String>,
    /// Only messages that arrived in the last days; older ones leave the collection. Absent for all messages.
    #[serde(default)]
    pub since_days: Option<u32>,
}

/// How to sign in to a mail server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImapSignIn {
    /// With a password; for some providers an app password.
    #[default]
    Password,
    /// Gmail and Google Workspace, with `XOAUTH2`. The secret is the JSON key of a service account that may act for the
    /// user (domain-wide delegation of the scope `https://mail.google.com/`); or JSON with `client_id`, `client_secret`
    /// and `refresh_token` of an OAuth client.
    Google,
    /// Microsoft 365, with `XOAUTH2`. The secret is the client secret of an app registration with the application
    /// permission `IMAP.AccessAsApp` that has access to the mailbox; or JSON with `refresh_token`, and `client_secret` if
    /// the app has one, for the permission `IMAP.AccessAsUser.All`.
    Microsoft,
}

impl ImapSignIn {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Google => "google",
            Self::Microsoft => "microsoft",
        }
    }
}

/// How a connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImapSecurity {
    /// With TLS from the start.
    #[default]
    Tls,
    /// With TLS after `STARTTLS`.
    StartTls,
    /// Not at all; only to hosts that the administrator has listed.
    Plain,
}

/// A mailbox with checked settings.
pub(crate) struct Imap {
    settings: ImapSettings,
    login: Login,
    /// The connection that was used last.
    connection: Mutex<Option<Connection>>,
}

/// What proves who the user is.
enum Login {
    Password(String),
    Token { tokens: Box<Tokens>, client: Client },
}

impl Imap {
    pub(crate) fn new(
        mut settings: ImapSettings,
        secret: &str,
        outbound: &Outbound,
    ) -> Result<Self, SourceProblem> {
        settings.host = settings.host.trim().to_owned();
        if !connection::is_host(&settings.host) {
            return Err(invalid("host", SettingProblem::NoHost));
        }
        if settings.security == ImapSecurity::Plain && !outbound.is_named_host(&settings.host) {
            return Err(invalid("security", SettingProblem::Unencrypted));
        }
        check_name("user", &settings.user)?;
        if settings.folders.is_empty() {
            settings.folders.push(INBOX.to_owned());
        }
        if settings.folders.len() > MAX_FOLDERS {
            return Err(invalid(
                "folders",
                SettingProblem::TooMany { most: MAX_FOLDERS },
            ));
        }
        for folder in &settings.folders {
            check_name("folders", folder)?;
        }
        if matches!(settings.since_days, Some(days) if days == 0 || days > MAX_DAYS) {
            return Err(invalid(
                "since_days",
                SettingProblem::OutOfRange {
                    least: 1,
                    most: MAX_DAYS,
                },
            ));
        }
        Ok(Self {
            login: login(&settings, secret, outbound)?,
            settings,
            connection: Mutex::default(),
        })
    }

    /// Lists the messages of all folders.
    pub(crate) async fn list(&self, surroundings: &Surroundings) -> Result<Listing, SourceProblem> {
        let mut kept = self.connection.lock().await;
        // One that was left idle may have ended.
        let mut connection = None;
        *kept = None;
        let mut listing = Listing::default();
        let mut first = None;
        let mut listed = 0;
        for folder in &self.settings.folders {
            let open = match connection.take() {
                Some(open) => open,
                None => self.connect(&surroundings.outbound).await?,
            };
            let since = self.since();
            let limits = surroundings.limits;
            let result = listing::add_folder(open, folder, since.as_deref(), &mut listing, limits);
            match result.await {
                Ok(open) => {
                    connection = Some(open);
                    listed += 1;
                }
                Err(problem) if http::is_partial(&problem) => {
                    first.get_or_insert(problem.clone());
                    listing.add_problem(folder, problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        *kept = connection;
        match first {
            Some(problem) if listed == 0 => Err(problem),
            _ => Ok(listing),
        }
    }

    /// Reads a message.
    pub(crate) async fn read(
        &self,
        item: &Item,
        surroundings: &Surroundings,
    ) -> Result<Bytes, SourceProblem> {
        let limit = surroundings.limits.item_bytes;
        item.check_size(surroundings.limits)?;
        let (folder, validity, uid) = parse_id(&item.id).ok_or(SourceProblem::Gone)?;
        let mut kept = self.connection.lock().await;
        if let Some(open) = kept.take() {
            match open.read(folder, validity, uid, limit).await {
                // It may have been idle for too long.
                Err(SourceProblem::Unreachable(_)) => {}
                Err(problem) => return Err(problem),
                Ok((open, content)) => {
                    *kept = Some(open);
                    return content;
                }
            }
        }
        let open = self.connect(&surroundings.outbound).await?;
        let (open, content) = open.read(folder, validity, uid, limit).await?;
        *kept = Some(open);
        content
    }

    async fn connect(&self, outbound: &Outbound) -> Result<Connection, SourceProblem> {
        let (tokens, token) = match &self.login {
            Login::Password(password) => {
                let proof = Proof::Password(password);
                return Connection::open(&self.settings, proof, outbound).await;
            }
            Login::Token { tokens, client } => {
                client.forget_waits();
                (tokens, tokens.token(client).await?)
            }
        };
        let opened = Connection::open(&self.settings, Proof::Token(&token), outbound).await;
        if matches!(opened, Err(SourceProblem::Refused)) {
            tokens.forget().await;
        }
        opened
    }

    /// The first day to list, such as `1-Nov-2026`.
    fn since(&self) -> Option<String> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the server has the real time, too"
        )]
        let now = SystemTime::now();
        day_before(now, self.settings.since_days?)
    }
}

fn login(
    settings: &ImapSettings,
    secret: &str,
    outbound: &Outbound,
) -> Result<Login, SourceProblem> {
    let (usual, grant) = match settings.sign_in {
        ImapSignIn::Password => {
            if secret.is_empty() || secret.contains(['\r', '\n', '\0']) {
                return Err(SourceProblem::Refused);
            }
            return Ok(Login::Password(secret.to_owned()));
        }
        ImapSignIn::Google => google(settings, secret)?,
        ImapSignIn::Microsoft => microsoft(settings, secret)?,
    };
    let url = match settings.token_url.as_deref() {
        Some(text) => http::encrypted_address(outbound, "token_url", text)?,
        None => usual,
    };
    Ok(Login::Token {
        tokens: Box::new(Tokens::new(url, grant)),
        client: Client::new(outbound),
    })
}

/// The day that is so many days before a time, as IMAP writes it.
fn day_before(now: SystemTime, days: u32) -> Option<String> {
    let now = jiff::Timestamp::try_from(now).ok()?;
    let hours = i64::from(days) * 24;
    let day = now
        .checked_sub(jiff::SignedDuration::from_hours(hours))
        .ok()?;
    Some(day.strftime("%-d-%b-%Y").to_string())
}

/// The id of a message: it never changes and is never given to another one.
fn id(folder: &str, validity: u32, uid: u32) -> String {
    format!("{folder}/{validity}/{uid}")
}

fn parse_id(id: &str) -> Option<(&str, u32, u32)> {
    let (rest, uid) = id.rsplit_once('/')?;
    let (folder, validity) = rest.rsplit_once('/')?;
    Some((folder, validity.parse().ok()?, uid.parse().ok()?))
}

fn check_name(field: &'static str, name: &str) -> Result<(), SourceProblem> {
    if name.trim().is_empty() || name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        return Err(invalid(field, SettingProblem::Characters));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use outbound::Allowed;
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_settings_are_named() {
        let allowed = Allowed::parse(&["inside.example".to_owned()]).unwrap();
        let outbound = Outbound::new(allowed);
        for (change, expected) in [
            (json!({}), None),
            (json!({ "security": "start_tls", "port": 1143 }), None),
            (
                json!({ "security": "plain", "host": "Inside.example" }),
                None,
            ),
            (json!({ "security": "plain" }), Some("security")),
            (json!({ "host": "mail.example.com:993" }), Some("host")),
            (json!({ "host": "" }), Some("host")),
            (json!({ "host": "a b" }), Some("host")),
            (json!({ "user": "" }), Some("user")),
            (json!({ "user": "a\r\nb" }), Some("user")),
            (json!({ "folders": ["INBOX", "a\nb"] }), Some("folders")),
            (json!({ "folders": vec!["a"; 101] }), Some("folders")),
            (json!({ "since_days": 0 }), Some("since_days")),
        ] {
            let mut settings = json!({ "host": "mail.example.com", "user": "ann" });
            let settings = settings.as_object_mut().unwrap();
            settings.extend(change.as_object().unwrap().clone());
            let settings: ImapSettings = serde_json::from_value(json!(settings)).unwrap();
            let field = match Imap::new(settings, "password", &outbound).err() {
                Some(SourceProblem::Settings { field, .. }) => Some(field),
                None => None,
                Some(other) => panic!("{other}"),
            };
            assert_eq!(field, expected, "{change}");
        }
    }

    #[test]
    fn ids_have_a_folder_with_slashes() {
        assert_eq!(id("A/B", 7, 9), "A/B/7/9");
        assert_eq!(parse_id("A/B/7/9"), Some(("A/B", 7, 9)));
        assert_eq!(parse_id("A/B"), None);
        assert_eq!(parse_id("A/7/99999999999"), None);
    }

    #[test]
    fn days() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_527_200);
        assert_eq!(day_before(now, 1).as_deref(), Some("31-Oct-2026"));
        assert_eq!(day_before(now, 31).as_deref(), Some("1-Oct-2026"));
        assert_eq!(day_before(now, 36_500).as_deref(), Some("26-Nov-1926"));
    }
}
