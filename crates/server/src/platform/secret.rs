//! Secrets: random tokens, their hashes, and model server keys encrypted at rest.

use std::{
    fs, io,
    io::{ErrorKind, Read, Write},
    path::Path,
};

use anyhow::Context;
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

/// Encrypts and decrypts keys with the server's own key, which is stored next to the database, not in it.
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
    /// Reads `secret.key` in `data_dir`, or creates it at the first start, readable by its owner only.
    ///
    /// # Errors
    /// If the file cannot be read or created, or is not a valid key.
    pub fn open(data_dir: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join("secret.key");
        let file = match fs::File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                create_key_file(data_dir, &path).and_then(|()| fs::File::open(&path))
            }
            other => other,
        };
        let unreadable = || format!("cannot read or make the key file {}", path.display());
        let mut file = file.with_context(unreadable)?;
        #[cfg(unix)]
        check_private(&path, &file.metadata().with_context(unreadable)?)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(unreadable)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| {
            anyhow::anyhow!(
                "the key file {} is damaged: restore it from a backup",
                path.display()
            )
        })?;
        anyhow::ensure!(
            !is_guessable(&bytes),
            "the key file {} holds no secret but what somebody typed or zeros: delete it, and the program makes a new one; \
             stored keys of model servers then have to be entered again",
            path.display()
        );
        let root = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        Ok(Self {
            sealing: LessSafeKey::new(key),
            root,
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

/// Rejects a key file that other users may read or write, as ssh does. A file that we do not own, such as a secret
/// mounted by a container runtime, may be readable by others; this is logged, because its permissions are not ours to
/// change.
#[cfg(unix)]
fn check_private(path: &Path, found: &fs::Metadata) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let mode = found.mode() & 0o777;
    let path = path.display();
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    let refused = if is_own { 0o077 } else { 0o022 };
    anyhow::ensure!(
        mode & refused == 0,
        "others may read or change the key file {path} (its mode is {mode:04o}): run `chmod 600 {path}`; where it is mounted \
         into a container, mount it with the mode 0400"
    );
    if mode & 0o004 != 0 {
        tracing::warn!(
            "every user of this machine can read the key file {path}, which belongs to another user"
        );
    }
    Ok(())
}

/// Whether the key was obviously not generated randomly: one repeated byte, or printable text, which 32 random bytes
/// never are.
fn is_guessable(key: &[u8]) -> bool {
    key.windows(2).all(|pair| pair[0] == pair[1])
        || key.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
}

/// Writes the complete key under a temporary name first, so that no crash leaves a partial one. If two servers start at
/// the same time, the first wins, and the second reads the first one's key.
fn create_key_file(data_dir: &Path, path: &Path) -> io::Result<()> {
    let bytes = random_bytes::<32>().map_err(io::Error::other)?;
    let name = HEXLOWER.encode(&random_bytes::<8>().map_err(io::Error::other)?);
    let new = data_dir.join(format!("secret.key.{name}"));
    let linked = write_private(&new, &bytes).and_then(|()| fs::hard_link(&new, path));
    let removed = fs::remove_file(&new);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => removed,
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

    fn folder() -> std::path::PathBuf {
        let dir =
            std::env::temp_dir().join(format!("glasshouse-secret-{}", domain::RunId::generate()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn a_sealed_key_opens_after_a_restart_and_for_its_owner_only() {
        let dir = folder();
        let key = Secret::new("sk-very-secret");
        let sealed = Sealer::open(&dir).unwrap().seal("conn_1", &key).unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        let again = Sealer::open(&dir).unwrap();
        assert_eq!(again.unseal("conn_1", &sealed), Ok(key));
        assert_eq!(again.unseal("conn_2", &sealed), Err(CannotOpen));
        assert_eq!(again.unseal("conn_1", &sealed[1..]), Err(CannotOpen));
        assert_eq!(again.unseal("conn_1", b""), Err(CannotOpen));
        fs::remove_dir_all(dir).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn the_key_file_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = folder();
        Sealer::open(&dir).unwrap();
        let mode = fs::metadata(dir.join("secret.key"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        for key in [
            &b""[..],
            b"short",
            &[0; 32],
            &[0xff; 32],
            b"change-me-change-me-change-me-ok",
            &[7; 33],
        ] {
            fs::write(dir.join("secret.key"), key).unwrap();
            assert!(Sealer::open(&dir).is_err(), "{key:?}");
        }
        fs::remove_dir_all(dir).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = folder();
        Sealer::open(&dir).unwrap();
        let path = dir.join("secret.key");
        let open = |mode: u32| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Sealer::open(&dir).err().map(|error| format!("{error:#}"))
        };
        for mode in [0o600, 0o400] {
            assert_eq!(open(mode), None, "{mode:o}");
        }
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o444, 0o666] {
            let refused = open(mode).unwrap_or_default();
            assert!(
                refused.contains("chmod 600") && refused.contains(&format!("{mode:04o}")),
                "{refused}"
            );
        }
        fs::remove_dir_all(dir).unwrap();
    }

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
