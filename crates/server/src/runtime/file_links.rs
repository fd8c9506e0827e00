//! Signed, expiring URLs of files: the bearer may fetch one version of a file without signing in.

mod code_spans;
mod link_text;

pub(crate) use link_text::LinkText;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Message, Part, Role, UserId};
use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::platform::{live_config::LiveConfig, secret::Sealer};

/// The path prefix of file links.
const PREFIX: &str = "/files/";
/// Maximum length of a token that is verified.
const MAX_TOKEN_BYTES: usize = 4_000;
const DAY_S: i64 = 24 * 3600;

/// Creates and verifies file links.
pub(crate) struct FileLinks {
    key: hmac::Key,
    config: LiveConfig,
}

/// The payload of a file link.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileLink {
    /// The owner of the run that showed the file.
    pub(crate) owner: UserId,
    pub(crate) workspace: String,
    pub(crate) path: String,
    pub(crate) version: u64,
    /// Seconds since 1970.
    expires: i64,
}

/// The workspace of a run's files, and its owner.
#[derive(Debug, Clone)]
pub(crate) struct FilePlace {
    pub(crate) owner: UserId,
    pub(crate) workspace: String,
}

impl FileLinks {
    pub(crate) fn new(sealer: &Sealer, config: LiveConfig) -> Self {
        Self {
            key: sealer.signing_key("file links"),
            config,
        }
    }

    /// The URL path of a version of a file. It stays the same for a whole day.
    pub(crate) fn address(
        &self,
        place: &FilePlace,
        path: &str,
        version: u64,
        now_ms: i64,
    ) -> String {
        let today = now_ms / 1000 / DAY_S;
        let expires = (today + 1 + i64::from(self.config.now().file_link_days)) * DAY_S;
        let FilePlace { owner, workspace } = place.clone();
        let link = FileLink {
            owner,
            workspace,
            path: path.to_owned(),
            version,
            expires,
        };
        // Strings and numbers always serialize to JSON.
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&link).unwrap_or_default());
        let tag = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key, payload.as_bytes()).as_ref());
        let name = path.rsplit('/').next().unwrap_or_default();
        format!("{PREFIX}{payload}.{tag}/{}", encoded(name))
    }

    /// The payload of a token; `None` if the token is invalid or has expired.
    pub(crate) fn open(&self, token: &str, now_ms: i64) -> Option<FileLink> {
        self.verify(token)
            .filter(|link| now_ms / 1000 < link.expires)
    }

    /// Replaces file links in earlier answers that a front end sends by file paths: a model cannot use the links.
    pub(crate) fn read_back(&self, history: &mut [Message]) {
        for message in history
            .iter_mut()
            .filter(|message| message.role == Role::Assistant)
        {
            for part in &mut message.content {
                if let Part::Text { text } = part
                    && text.contains(PREFIX)
                {
                    *text = LinkText::whole(text, |address| self.path_of(address));
                }
            }
        }
    }

    /// The path of a file from its link, even if that has expired.
    fn path_of(&self, address: &str) -> Option<String> {
        let (_, rest) = address.split_once(PREFIX)?;
        let link = self.verify(rest.split('/').next()?)?;
        Some(
            link.path
                .split('/')
                .map(encoded)
                .collect::<Vec<_>>()
                .join("/"),
        )
    }

    fn verify(&self, token: &str) -> Option<FileLink> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let (payload, tag) = token.split_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.key, payload.as_bytes(), &tag).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}

/// A file name as a path segment. Parentheses would end a Markdown link.
fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    name.bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::{Config, Environment, Flags};

    fn links(days: u32) -> FileLinks {
        links_of(b"key", days)
    }

    fn links_of(key: &[u8], days: u32) -> FileLinks {
        let flags = Flags {
            data_dir: Some("/nowhere".into()),
            ..Flags::default()
        };
        let days = ("GLASSHOUSE_FILE_LINK_DAYS".to_owned(), days.to_string());
        let config = Config::from_parts(&flags, &Environment::from([days])).unwrap();
        FileLinks {
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
            config: LiveConfig::new(config),
        }
    }

    fn place(workspace: &str) -> FilePlace {
        let owner = "user_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        FilePlace {
            owner,
            workspace: workspace.to_owned(),
        }
    }

    fn token(address: &str) -> &str {
        address
            .strip_prefix(PREFIX)
            .unwrap()
            .split('/')
            .next()
            .unwrap()
    }

    #[test]
    fn an_address_stands_for_one_state_of_one_file_for_some_days() {
        let links = links(2);
        let address = links.address(&place("chat_1"), "/plots/a (1).png", 3, 5 * 1000);
        assert!(address.ends_with("/a%20%281%29.png"), "{address}");
        assert_eq!(
            address,
            links.address(&place("chat_1"), "/plots/a (1).png", 3, 80_000 * 1000),
            "all day the same"
        );
        let opened = links.open(token(&address), 0).unwrap();
        assert_eq!(
            (&*opened.workspace, &*opened.path, opened.version),
            ("chat_1", "/plots/a (1).png", 3)
        );
        assert!(
            links
                .open(token(&address), (3 * DAY_S - 1) * 1000)
                .is_some()
        );
        assert_eq!(links.open(token(&address), 3 * DAY_S * 1000), None);
    }

    #[test]
    fn earlier_answers_get_their_paths_back() {
        let links = links(1);
        let address = links.address(&place("theirs"), "/plots/a (1).png", 3, 0);
        let said =
            format!("![a](https://a.example{address}) [b](https://a.example/files/x.y/b.png)");
        let mut history = [
            Message::text(Role::Assistant, said.clone()),
            Message::text(Role::User, said.clone()),
        ];
        links.read_back(&mut history);
        let expected = "![a](/plots/a%20%281%29.png) [b](https://a.example/files/x.y/b.png)";
        assert_eq!(
            (history[0].plain_text(), history[1].plain_text()),
            (expected.to_owned(), said)
        );
    }

    #[test]
    fn nothing_in_it_can_be_changed() {
        let links = links(30);
        let address = links.address(&place("chat_1"), "/a.png", 1, 0);
        let whole = token(&address);
        let (payload, tag) = whole.split_once('.').unwrap();
        let other = FileLink {
            owner: UserId::generate(),
            workspace: "chat_2".into(),
            path: "/a.png".into(),
            version: 1,
            expires: i64::MAX,
        };
        let forged = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&other).unwrap());
        let long = "A".repeat(MAX_TOKEN_BYTES + 1);
        for bad in [
            &*format!("{forged}.{tag}"),
            &*format!("{payload}.{}", &tag[1..]),
            &*format!("{payload}."),
            payload,
            "",
            ".",
            &*format!("{long}.{tag}"),
        ] {
            assert_eq!(links.open(bad, 0), None, "{bad}");
        }
        let foreign = links_of(b"other", 30);
        assert_eq!(foreign.open(whole, 0), None, "another server's key");
    }
}
