//! Encodes opaque provider data for programs of another format: signatures and encrypted reasoning come back unchanged,
//! and are never shown.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use domain::StoredBlock;
use serde::{Deserialize, Serialize};

/// The prefix of our data, distinct from that of any provider.
pub(crate) const PREFIX: &str = "glasshouse-1.";

/// A block of an answer, and its owner.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SealedBlock {
    pub(crate) provider: String,
    pub(crate) block: StoredBlock,
}

impl SealedBlock {
    /// The encoded text.
    pub(crate) fn seal(&self) -> String {
        // Serializing a plain struct to memory cannot fail.
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("{PREFIX}{}", BASE64.encode(json))
    }

    /// Decodes it; `None` if the text is not ours.
    pub(crate) fn open(sealed: &str) -> Option<Self> {
        let json = BASE64.decode(sealed.strip_prefix(PREFIX)?).ok()?;
        serde_json::from_slice(&json).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_blocks_open_and_others_do_not() {
        let block = StoredBlock::Text {
            data: Some(serde_json::json!({"thoughtSignature": "x"})),
        };
        let block = SealedBlock {
            provider: "gemini".to_owned(),
            block,
        };
        assert_eq!(SealedBlock::open(&block.seal()), Some(block));
        for other in [
            "",
            "EusCCkYICRgC",
            "glasshouse-1.",
            "glasshouse-1.!",
            "glasshouse-1.e30=",
        ] {
            assert_eq!(SealedBlock::open(other), None, "{other}");
        }
    }
}
