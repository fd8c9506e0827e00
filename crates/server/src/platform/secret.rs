//! Secrets: random tokens, their hashes, and model server keys encrypted at rest.

use std::{fs, io, io::Write, path::Path};

use data_encoding::HEXLOWER;
use llm::Secret;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    digest, hmac,
    rand::{SecureRandom, SystemRandom},
};

/// The operating system returned no random bytes. The only option is to refuse.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct NoRandomness;

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// A new secret of 256 bits as text: `prefix` and 64 hexadecimal digits.
///
/// # Errors
/// If the system has no randomness.
pub fn random_token(prefix: &str) -> Result<Secret, NoRandomness> {
    Ok(Secret::new(format!(
        "{prefix}{}",
        HEXLOWER.encode(&random_bytes::<32>()?)
    )))
}

/// The stored form of a token. A plain hash is enough, because 256 random bits cannot be guessed; and looking up a hash
/// does not reveal through timing how much of a guess was right.
#[must_use]
pub fn hash_token(token: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, token.as_bytes()).as_ref());
    hash
}

/// Length of the secret key, bytes.
pub(crate) const KEY_BYTES: usize = 32;

/// Encrypts and decrypts stored secrets with the [secret key](super::secret_key), which is not in the database.
pub struct Sealer {
    sealing: LessSafeKey,
    /// The root from which signing keys are derived.
    root: hmac::Key,
}

/// A sealed key could not be opened: it is damaged or was sealed with another key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored key cannot be read with this server's key file; enter it again")]
pub struct CannotOpen;

impl Sealer {
    /// With a key of 256 random bits.
    #[must_use]
    pub(super) fn new(key: &[u8; KEY_BYTES]) -> Option<Self> {
        let sealing = UnboundKey::new(&CHACHA20_POLY1305, key).ok()?;
        Some(Self {
            sealing: LessSafeKey::new(sealing),
            root: hmac::Key::new(hmac::HMAC_SHA256, key),
        })
    }

    /// The signing key for a purpose: stable across restarts, and the same on every server with this key file.
    #[must_use]
    pub fn signing_key(&self, purpose: &str) -> hmac::Key {
        hmac::Key::new(
            hmac::HMAC_SHA256,
            hmac::sign(&self.root, purpose.as_bytes()).as_ref(),
        )
    }

    /// A key for a purpose, for crates that have their own ciphers.
    #[must_use]
    pub(crate) fn derived_key(&self, purpose: &str) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        let signed = hmac::sign(&self.root, format!("key: {purpose}").as_bytes());
        key.copy_from_slice(&signed.as_ref()[..KEY_BYTES]);
        key
    }

    /// Seals `secret`; it opens only together with the same `owner`.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn seal(&self, owner: &str, secret: &Secret) -> Result<Vec<u8>, NoRandomness> {
        let nonce = random_bytes::<NONCE_LEN>()?;
        let mut sealed = secret.reveal().as_bytes().to_vec();
        let aad = Aad::from(owner.as_bytes());
        self.sealing
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .map_err(|_| NoRandomness)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Opens what [`Sealer::seal`] made.
    ///
    /// # Errors
    /// If it was modified, or sealed for another owner or with another key.
    pub fn unseal(&self, owner: &str, sealed: &[u8]) -> Result<Secret, CannotOpen> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(CannotOpen)?;
        let mut text = sealed.to_vec();
        let aad = Aad::from(owner.as_bytes());
        let open = self
            .sealing
            .open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut text);
        let open = open.map_err(|_| CannotOpen)?;
        std::str::from_utf8(open)
            .map(Secret::new)
            .map_err(|_| CannotOpen)
    }
}

/// Creates a file that only its owner may read, and syncs it to disk.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_hash_the_same() {
        let a = random_token("gh_").unwrap();
        let b = random_token("gh_").unwrap();
        assert_ne!(a, b);
        assert_eq!(a.reveal().len(), 3 + 64);
        assert_eq!(hash_token(a.reveal()), hash_token(a.reveal()));
        assert_eq!(HEXLOWER.encode(&hash_token(""))[..8], *"e3b0c442");
    }
}
