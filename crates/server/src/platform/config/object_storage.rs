//! Settings of the object storage: ours, and the variables that a provider's other tools read.

use std::{fs, path::Path};

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::Environment;

/// Variables with these beginnings are passed on, such as `AWS_ROLE_ARN`.
const VARIABLES: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];
/// Maximum size of a file with a key.
const MAX_FILE_BYTES: u64 = 100_000;

/// The settings as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawObjectStorage {
    url: String,
    endpoint: String,
    region: String,
    access_key: String,
    secret_key: String,
    secret_key_file: String,
    path_style: bool,
}

impl RawObjectStorage {
    /// `None` if there is no URL.
    pub(super) fn check(
        self,
        data_dir: &Path,
        environment: &Environment,
    ) -> anyhow::Result<Option<blobs::Settings>> {
        if self.url.is_empty() {
            return Ok(None);
        }
        ensure!(
            self.secret_key.is_empty() || self.secret_key_file.is_empty(),
            "object_storage.secret_key and object_storage.secret_key_file are both set: remove one of them"
        );
        let secret_key = match &*self.secret_key_file {
            "" => self.secret_key,
            file => read_key(&data_dir.join(file))?,
        };
        let is_of_provider = |name: &String| {
            VARIABLES
                .iter()
                .any(|beginning| name.starts_with(beginning))
        };
        let environment = environment
            .iter()
            .filter(|(name, value)| is_of_provider(name) && !value.is_empty())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        Ok(Some(blobs::Settings {
            url: self.url,
            endpoint: self.endpoint,
            region: self.region,
            access_key: self.access_key,
            secret_key,
            path_style: self.path_style,
            environment,
        }))
    }
}

fn read_key(path: &Path) -> anyhow::Result<String> {
    let about = || {
        format!(
            "object_storage.secret_key_file: cannot read {}",
            path.display()
        )
    };
    let size = fs::metadata(path).with_context(about)?.len();
    ensure!(
        size <= MAX_FILE_BYTES,
        "object_storage.secret_key_file: {} is too large for a key",
        path.display()
    );
    let text = fs::read_to_string(path).with_context(about)?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(secret_key: &str, secret_key_file: &str) -> RawObjectStorage {
        RawObjectStorage {
            url: "s3://bucket".to_owned(),
            endpoint: String::new(),
            region: String::new(),
            access_key: "id".to_owned(),
            secret_key: secret_key.to_owned(),
            secret_key_file: secret_key_file.to_owned(),
            path_style: true,
        }
    }

    #[test]
    fn the_key_may_be_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("key"), "canary\n").unwrap();
        let check = |raw: RawObjectStorage| raw.check(folder.path(), &Environment::new());
        let settings = check(raw("", "key")).unwrap().unwrap();
        assert_eq!(settings.secret_key, "canary");
        assert!(!format!("{settings:?}").contains("canary"));
        let missing = check(raw("", "none")).unwrap_err().to_string();
        assert!(
            missing.contains("object_storage.secret_key_file"),
            "{missing}"
        );
        let both = check(raw("a", "key")).unwrap_err().to_string();
        assert!(both.contains("both set"), "{both}");
    }

    #[test]
    fn variables_of_providers_are_passed_on() {
        let environment: Environment = [("AWS_ROLE_ARN", "arn"), ("AWS_REGION", ""), ("HOME", "/")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let folder = Path::new("/nowhere");
        let settings = raw("a", "").check(folder, &environment).unwrap().unwrap();
        let names: Vec<&String> = settings.environment.keys().collect();
        assert_eq!(names, ["AWS_ROLE_ARN"]);
        let off = RawObjectStorage {
            url: String::new(),
            ..raw("a", "b")
        };
        assert!(off.check(folder, &environment).unwrap().is_none());
    }
}
