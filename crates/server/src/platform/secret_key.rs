//! The secret key, with which stored secrets are encrypted: configured, in a file, or in the data folder, where it is created
//! at the first start. Servers with one database need the same one, and a value in the database tells whether they have it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};
use llm::Secret;
use serde_json::{Value, json};
use store::{Store, StoreError};

use super::{
    config::Config,
    secret::{KEY_BYTES, NoRandomness, Sealer, random_bytes, write_private},
};

/// Name of the key file in the data folder.
pub(crate) const FILE: &str = "secret.key";
/// The setting that only the right key opens, and what it was sealed with.
const CHECK: &str = "secret_key_check";
const CHECKED: &str = "glasshouse";
/// Maximum size of a key file.
const MAX_FILE_BYTES: u64 = 1000;

/// Where the secret key is.
#[derive(Debug, Clone)]
pub enum SecretKey {
    /// In the configuration, as Base64 or hexadecimal digits.
    Configured(Secret),
    /// In this file, which exists.
    File(PathBuf),
    /// In `secret.key` in this data folder, where it is created if it is missing.
    DataFolder(PathBuf),
}

impl SecretKey {
    /// # Errors
    /// A sentence, if both are set.
    pub(super) fn parse(key: &str, file: &str, data_dir: &Path) -> anyhow::Result<Self> {
        match (key, file) {
            ("", "") => Ok(Self::DataFolder(data_dir.to_owned())),
            (key, "") => Ok(Self::Configured(Secret::new(key))),
            ("", file) => Ok(Self::File(data_dir.join(file))),
            _ => bail!("secret_key and secret_key_file are both set: remove one of them"),
        }
    }

    /// The encryption with this key.
    ///
    /// # Errors
    /// A sentence, if it cannot be read or created, or is not a valid key.
    pub fn open(&self) -> anyhow::Result<Sealer> {
        if let Self::DataFolder(folder) = self {
            let path = folder.join(FILE);
            if !path.exists() {
                create_key_file(folder, &path)
                    .with_context(|| format!("cannot make the key file {}", path.display()))?;
            }
        }
        let key = self.read()?;
        Sealer::new(&key).context("the secret key cannot be used")
    }

    /// The key; `None` if it was not created yet.
    pub(crate) fn existing(&self) -> anyhow::Result<Option<[u8; KEY_BYTES]>> {
        match self {
            Self::DataFolder(folder) if !folder.join(FILE).exists() => Ok(None),
            _ => self.read().map(Some),
        }
    }

    /// Where it is, for people.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Configured(_) => "secret_key in the configuration".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::DataFolder(folder) => folder.join(FILE).display().to_string(),
        }
    }

    fn read(&self) -> anyhow::Result<[u8; KEY_BYTES]> {
        let place = self.place();
        let (key, advice) = match self {
            Self::Configured(key) => (from_text(key.reveal()), MAKE),
            Self::File(path) => (from_file(&read_private(path)?), MAKE),
            Self::DataFolder(folder) => (
                read_private(&folder.join(FILE))?.try_into().ok(),
                "restore it from a backup",
            ),
        };
        let key =
            key.with_context(|| format!("{place} is no key of {KEY_BYTES} bytes: {advice}"))?;
        ensure!(
            !is_guessable(&key),
            "{place} is no secret but something that was typed, or zeros: {MAKE}; secrets that are stored then have to be \
             entered again"
        );
        Ok(key)
    }
}

/// How a key is made.
const MAKE: &str = "make one with `openssl rand -base64 32`";

/// Compares the key with the one that the database was first used with, or notes it if this is the first.
///
/// # Errors
/// A sentence, if it is another one; or the database's error.
pub(crate) async fn check_or_note(store: &Store, sealer: &Sealer) -> anyhow::Result<()> {
    if store.setting(CHECK).await?.is_none() {
        // Of two servers that start at the same time, the first decides.
        store.setting_or(CHECK, &sealed_check(sealer)?).await?;
    }
    check(store, sealer).await
}

/// Compares the key with the one that the database was first used with, if it was.
///
/// # Errors
/// As [`check_or_note`].
pub(crate) async fn check(store: &Store, sealer: &Sealer) -> anyhow::Result<()> {
    let noted = store.setting(CHECK).await?;
    ensure!(
        noted.is_none_or(|noted| opens(sealer, &noted)),
        "the secret key is not the one with which this database was first used, so that stored secrets could not be read. \
         Copy {FILE} from the data folder of another server or from a backup, or set GLASSHOUSE_SECRET_KEY. If that key is \
         lost, run `glasshouse secret-key accept`, and enter the keys of model servers and other secrets again"
    );
    Ok(())
}

/// Notes the key as the one of the database, in place of one that is lost.
///
/// # Errors
/// A sentence, or the database's error.
pub async fn accept(config: &Config) -> anyhow::Result<()> {
    let sealer = config.secret_key.open()?;
    let store = Store::open(&config.database_url)
        .await
        .context("cannot open the database")?;
    store.put_setting(CHECK, &sealed_check(&sealer)?).await?;
    store.close().await;
    Ok(())
}

/// Forgets which key the database was used with, so that the next start notes its own.
pub(crate) async fn forget(store: &Store) -> Result<(), StoreError> {
    let changes = BTreeMap::from([(CHECK.to_owned(), None)]);
    store.change_settings(&changes).await
}

fn sealed_check(sealer: &Sealer) -> Result<Value, NoRandomness> {
    let sealed = sealer.seal(CHECK, &Secret::new(CHECKED))?;
    Ok(json!(BASE64.encode(&sealed)))
}

fn opens(sealer: &Sealer, noted: &Value) -> bool {
    let sealed = noted
        .as_str()
        .and_then(|text| BASE64.decode(text.as_bytes()).ok());
    sealed.is_some_and(|sealed| sealer.unseal(CHECK, &sealed).is_ok())
}

/// A key file that an administrator made has the key itself or its text.
fn from_file(content: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let own = content.try_into().ok();
    own.or_else(|| from_text(str::from_utf8(content).ok()?))
}

fn from_text(text: &str) -> Option<[u8; KEY_BYTES]> {
    let text = text.trim().as_bytes();
    let key = match text.len() {
        64 => HEXLOWER_PERMISSIVE.decode(text),
        43 => BASE64_NOPAD.decode(text),
        _ => BASE64.decode(text),
    };
    key.ok()?.try_into().ok()
}

fn read_private(path: &Path) -> anyhow::Result<Vec<u8>> {
    let unreadable = || format!("cannot read the key file {}", path.display());
    let file = fs::File::open(path).with_context(unreadable)?;
    #[cfg(unix)]
    check_private(path, &file.metadata().with_context(unreadable)?)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES)
        .read_to_end(&mut bytes)
        .with_context(unreadable)?;
    Ok(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::secret::CannotOpen;

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
        let sealed = SecretKey::DataFolder(dir.clone())
            .open()
            .unwrap()
            .seal("conn_1", &key)
            .unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        let again = SecretKey::DataFolder(dir.clone()).open().unwrap();
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
        SecretKey::DataFolder(dir.clone()).open().unwrap();
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
            assert!(
                SecretKey::DataFolder(dir.clone()).open().is_err(),
                "{key:?}"
            );
        }
        fs::remove_dir_all(dir).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = folder();
        SecretKey::DataFolder(dir.clone()).open().unwrap();
        let path = dir.join("secret.key");
        let open = |mode: u32| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            SecretKey::DataFolder(dir.clone())
                .open()
                .err()
                .map(|error| format!("{error:#}"))
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
    fn a_key_is_configured_as_text_or_a_file() {
        let key: [u8; KEY_BYTES] = std::array::from_fn(|at| 7 * at as u8);
        let dir = folder();
        let sealed = Sealer::new(&key)
            .unwrap()
            .seal("x", &Secret::new("so secret"))
            .unwrap();
        let opens = |key: SecretKey| key.open().unwrap().unseal("x", &sealed).is_ok();
        let base64 = BASE64.encode(&key);
        for text in [
            base64.clone(),
            format!("{base64}\n"),
            base64.trim_end_matches('=').to_owned(),
            HEXLOWER.encode(&key),
            HEXLOWER.encode(&key).to_uppercase(),
        ] {
            assert!(opens(SecretKey::parse(&text, "", &dir).unwrap()), "{text}");
            let file = dir.join("mounted");
            let _ = fs::remove_file(&file);
            write_private(&file, text.as_bytes()).unwrap();
            assert!(
                opens(SecretKey::parse("", "mounted", &dir).unwrap()),
                "{text}"
            );
            fs::remove_file(&file).unwrap();
            write_private(&file, &key).unwrap();
            assert!(opens(
                SecretKey::parse("", file.to_str().unwrap(), &dir).unwrap()
            ));
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no key is made");
        for wrong in [
            "short",
            &base64[4..],
            "change-me",
            &BASE64.encode(&[0; KEY_BYTES]),
        ] {
            assert!(
                SecretKey::Configured(Secret::new(wrong)).open().is_err(),
                "{wrong}"
            );
        }
        assert!(
            SecretKey::parse("", "missing", &dir)
                .unwrap()
                .open()
                .is_err()
        );
        assert!(SecretKey::parse(&base64, "mounted", &dir).is_err());
        fs::remove_dir_all(dir).unwrap();
    }
}
