//! The hash of a content.

use std::{fmt, str::FromStr};

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// A SHA-256 hash, 64 hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

/// It is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 hash has 64 lower-case hexadecimal digits")]
pub struct NotHash;

impl Sha256 {
    /// The hash of a content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, content).as_ref());
        Self(hash)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = NotHash;

    fn from_str(text: &str) -> Result<Self, NotHash> {
        let bytes = HEXLOWER.decode(text.as_bytes()).map_err(|_| NotHash)?;
        bytes.try_into().map(Self).map_err(|_| NotHash)
    }
}

impl TryFrom<String> for Sha256 {
    type Error = NotHash;

    fn try_from(text: String) -> Result<Self, NotHash> {
        text.parse()
    }
}

impl From<Sha256> for String {
    fn from(hash: Sha256) -> Self {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_and_written_as_digits() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Sha256::of(b"").to_string(), empty);
        assert_eq!(empty.parse(), Ok(Sha256::of(b"")));
        for bad in ["", "e3b0", &empty.to_uppercase(), "../../etc/passwd"] {
            assert_eq!(bad.parse::<Sha256>(), Err(NotHash), "{bad}");
        }
    }
}
