//! The key of a content: unique for each time that one is stored, with the hash of the content in it.

use std::fmt;

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use uuid::Uuid;

/// Names one stored content. A key is never used again, so that an object that nothing refers to stays so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// A new key for a content: `ab/UUID.SHA-256`, where `ab` spreads the objects over folders.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let hash = hash_of(content);
        #[expect(
            clippy::disallowed_methods,
            reason = "it names a stored object and decides nothing"
        )]
        let id = Uuid::now_v7();
        Self(format!("{}/{id}.{hash}", &hash[..2]))
    }

    /// The key that is written like this; `None` if the text is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (folder, name) = text.split_once('/')?;
        let (id, hash) = name.split_once('.')?;
        let is_hash = hash.len() == 64
            && hash
                .bytes()
                .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let is_key = is_hash && hash.starts_with(folder) && folder.len() == 2;
        // Other spellings of an id would name other objects.
        let is_id = Uuid::try_parse(id).is_ok_and(|uuid| uuid.to_string() == id);
        (is_key && is_id).then(|| Self(text.to_owned()))
    }

    /// The text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of its path.
    pub(crate) fn name(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// Whether this is the content of the key.
    #[must_use]
    pub fn is_of(&self, content: &[u8]) -> bool {
        self.0.ends_with(&hash_of(content))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 in lower-case hexadecimal digits.
fn hash_of(content: &[u8]) -> String {
    HEXLOWER.encode(digest(&SHA256, content).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_know_their_content() {
        let (one, other) = (Key::of(b"content"), Key::of(b"content"));
        assert_ne!(one, other);
        assert!(one.is_of(b"content") && !one.is_of(b"Content"));
        assert_eq!(Key::parse(one.as_str()), Some(one));
    }

    #[test]
    fn other_texts_are_no_keys() {
        let key = Key::of(b"").to_string();
        let (folder, name) = key.split_once('/').unwrap();
        for text in [
            "",
            "a/b",
            name,
            &format!("00/{name}"),
            &format!("../{name}"),
            &format!("{folder}/../{name}"),
            &key.to_uppercase(),
            &key[..key.len() - 1],
            &format!("{key}0"),
            &format!("e3/x.{}", &key[key.len() - 64..]),
        ] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
    }
}
