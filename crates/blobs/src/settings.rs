//! The settings of an object storage, and the client that they describe.

use std::{collections::BTreeMap, fmt, fs, time::Duration};

use object_store::{
    BackoffConfig, ObjectStore, RetryConfig, aws::AmazonS3Builder, azure::MicrosoftAzureBuilder,
    gcp::GoogleCloudStorageBuilder, local::LocalFileSystem, path::Path,
};
use reqwest::Url;

use crate::http::Connector;

/// Where an object storage is, and how access to it is gained.
#[derive(Clone, Default)]
pub struct Settings {
    /// `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX` or `file:///FOLDER`.
    pub url: String,
    /// The URL of the service; empty for the provider's own.
    pub endpoint: String,
    /// The region of an S3 bucket; empty for the environment's, or `us-east-1`.
    pub region: String,
    /// S3's access key ID, or Azure's account name; empty for the environment's.
    pub access_key: String,
    /// The key, or Google's service account as JSON; empty for the environment's.
    pub secret_key: String,
    /// Whether the bucket is part of the path, not of the host.
    pub path_style: bool,
    /// Variables such as `AWS_ROLE_ARN`, which the provider's other tools read too.
    pub environment: BTreeMap<String, String>,
}

/// Why settings cannot be used: a sentence that begins with the name of the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSettings(String);

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("url", &self.url)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// The parts of a URL.
struct Place {
    scheme: String,
    /// The bucket or container.
    bucket: String,
    prefix: Path,
}

impl Settings {
    pub(crate) fn connect(&self) -> Result<(Box<dyn ObjectStore>, Path), InvalidSettings> {
        let url: Url = self
            .url
            .parse()
            .map_err(|error| invalid("url", format!("is no URL: {error}")))?;
        if url.scheme() == "file" {
            return Ok((Box::new(folder(&url)?), Path::default()));
        }
        let place = Place::of(&url)?;
        if !self.endpoint.is_empty() {
            check_endpoint(&self.endpoint)?;
        }
        let store: Box<dyn ObjectStore> = match &*place.scheme {
            "s3" => Box::new(self.s3(&place)?),
            "gs" => Box::new(self.google(&place)?),
            "az" => Box::new(self.azure(&place)?),
            other => {
                let text = format!("begins with {other}://, but must with s3, gs, az or file");
                return Err(invalid("url", text));
            }
        };
        Ok((store, place.prefix))
    }

    fn s3(&self, place: &Place) -> Result<impl ObjectStore + use<>, InvalidSettings> {
        let mut builder = AmazonS3Builder::new();
        for (name, value) in self.variables("AWS_") {
            if let Ok(key) = name.parse() {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder
            .with_bucket_name(&place.bucket)
            .with_http_connector(Connector)
            .with_retry(retries())
            .with_virtual_hosted_style_request(!self.path_style);
        if !self.region.is_empty() {
            builder = builder.with_region(&self.region);
        }
        if !self.endpoint.is_empty() {
            builder = builder
                .with_endpoint(self.s3_endpoint(&place.bucket)?)
                .with_allow_http(self.endpoint.starts_with("http://"));
        }
        if self.has_key_pair()? {
            builder = builder
                .with_access_key_id(&self.access_key)
                .with_secret_access_key(&self.secret_key);
        }
        builder.build().map_err(|error| refused(&error))
    }

    /// With the bucket as part of the host, if that is wanted.
    fn s3_endpoint(&self, bucket: &str) -> Result<String, InvalidSettings> {
        let mut url = check_endpoint(&self.endpoint)?;
        if !self.path_style {
            let host = format!("{bucket}.{}", url.host_str().unwrap_or_default());
            url.set_host(Some(&host))
                .map_err(|error| invalid("endpoint", error.to_string()))?;
        }
        Ok(url.as_str().trim_end_matches('/').to_owned())
    }

    fn google(&self, place: &Place) -> Result<impl ObjectStore + use<>, InvalidSettings> {
        let mut builder = GoogleCloudStorageBuilder::new();
        for (name, value) in self.variables("GOOGLE_") {
            if let Ok(key) = name.parse() {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder
            .with_bucket_name(&place.bucket)
            .with_http_connector(Connector)
            .with_retry(retries());
        if !self.endpoint.is_empty() {
            builder = builder.with_base_url(&self.endpoint);
        }
        if !self.access_key.is_empty() {
            let text = "is not used for Google: secret_key is the service account as JSON";
            return Err(invalid("access_key", text));
        }
        if !self.secret_key.is_empty() {
            builder = builder.with_service_account_key(&self.secret_key);
        }
        builder.build().map_err(|error| refused(&error))
    }

    fn azure(&self, place: &Place) -> Result<impl ObjectStore + use<>, InvalidSettings> {
        let mut builder = MicrosoftAzureBuilder::new();
        for (name, value) in self.variables("AZURE_") {
            if let Ok(key) = name.parse() {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder
            .with_container_name(&place.bucket)
            .with_http_connector(Connector)
            .with_retry(retries());
        if !self.endpoint.is_empty() {
            builder = builder
                .with_endpoint(self.endpoint.trim_end_matches('/').to_owned())
                .with_allow_http(self.endpoint.starts_with("http://"));
        }
        if !self.access_key.is_empty() {
            builder = builder.with_account(&self.access_key);
        }
        if !self.secret_key.is_empty() {
            builder = builder.with_access_key(&self.secret_key);
        }
        builder.build().map_err(|error| refused(&error))
    }

    /// Those of a provider, in the form in which `object_store` names its options.
    fn variables(&self, prefix: &'static str) -> impl Iterator<Item = (String, &str)> {
        self.environment
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix))
            .map(|(name, value)| (name.to_ascii_lowercase(), &**value))
    }

    fn has_key_pair(&self) -> Result<bool, InvalidSettings> {
        match (self.access_key.is_empty(), self.secret_key.is_empty()) {
            (true, true) => Ok(false),
            (false, false) => Ok(true),
            (true, false) => Err(invalid(
                "access_key",
                "is missing, but there is a secret_key",
            )),
            (false, true) => Err(invalid(
                "secret_key",
                "is missing, but there is an access_key",
            )),
        }
    }
}

impl Place {
    fn of(url: &Url) -> Result<Self, InvalidSettings> {
        let bucket = url.host_str().unwrap_or_default().to_owned();
        if bucket.is_empty() {
            return Err(invalid("url", "has no bucket: s3://BUCKET/PREFIX"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(
                "url",
                "has credentials in it: use access_key and secret_key",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() || url.port().is_some() {
            return Err(invalid("url", "may only have a bucket and a prefix"));
        }
        let prefix = Path::from_url_path(url.path())
            .map_err(|error| invalid("url", format!("has no usable prefix: {error}")))?;
        let scheme = url.scheme().to_owned();
        Ok(Self {
            scheme,
            bucket,
            prefix,
        })
    }
}

/// A folder of this machine, which is made if it is missing.
fn folder(url: &Url) -> Result<LocalFileSystem, InvalidSettings> {
    let path = url
        .to_file_path()
        .map_err(|()| invalid("url", "is no folder of this machine: file:///FOLDER"))?;
    let failed = |error: &dyn fmt::Display| {
        invalid(
            "url",
            format!("cannot be used: {}: {error}", path.display()),
        )
    };
    fs::create_dir_all(&path).map_err(|error| failed(&error))?;
    let store = LocalFileSystem::new_with_prefix(&path).map_err(|error| failed(&error))?;
    Ok(store.with_automatic_cleanup(false).with_fsync(true))
}

fn check_endpoint(endpoint: &str) -> Result<Url, InvalidSettings> {
    let url: Url = endpoint
        .parse()
        .map_err(|error| invalid("endpoint", format!("is no URL: {error}")))?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    match is_web && is_plain {
        true => Ok(url),
        false => Err(invalid(
            "endpoint",
            "must be an address such as https://storage.example.org",
        )),
    }
}

/// A request that cannot be answered fails after about half a minute.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(5),
            base: 2.0,
        },
        max_retries: 4,
        retry_timeout: Duration::from_secs(30),
    }
}

fn invalid(setting: &str, text: impl fmt::Display) -> InvalidSettings {
    InvalidSettings(format!("object_storage.{setting} {text}"))
}

/// What the client itself refuses.
fn refused(error: &object_store::Error) -> InvalidSettings {
    InvalidSettings(format!("object_storage cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: Settings) -> Result<(), String> {
        let made = settings.connect();
        made.map(drop).map_err(|error| error.to_string())
    }

    fn at(url: &str) -> Settings {
        Settings {
            url: url.to_owned(),
            path_style: true,
            ..Settings::default()
        }
    }

    #[test]
    fn places_of_each_kind_are_taken() {
        let azure = Settings {
            access_key: "account".to_owned(),
            secret_key: "c2VjcmV0".to_owned(),
            ..at("az://container/prefix")
        };
        for settings in [
            at("s3://bucket"),
            at("s3://bucket/a/b"),
            at("gs://bucket/a"),
            azure,
        ] {
            assert_eq!(check(settings.clone()), Ok(()), "{settings:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, expected) in [
            ("", "url is no URL"),
            ("bucket", "url is no URL"),
            ("s3:///prefix", "url has no bucket"),
            ("ftp://bucket", "url begins with ftp://"),
            ("s3://key:secret@bucket", "url has credentials in it"),
            ("s3://bucket?x=1", "url may only have"),
            ("file://host/folder", "url is no folder of this machine"),
            ("file:///proc/none", "url cannot be used"),
        ] {
            let error = check(at(url)).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
        }
        let half = Settings {
            access_key: "id".to_owned(),
            ..at("s3://bucket")
        };
        assert!(check(half).unwrap_err().contains("secret_key is missing"));
        for endpoint in ["storage", "ftp://a", "http://me:secret@a", "https://a?x"] {
            let settings = Settings {
                endpoint: endpoint.to_owned(),
                ..at("s3://bucket")
            };
            let error = check(settings).unwrap_err();
            assert!(error.contains("object_storage.endpoint"), "{error}");
        }
    }

    #[test]
    fn a_bucket_may_be_part_of_the_host() {
        for (path_style, expected) in [
            (true, "http://127.0.0.1:9000"),
            (false, "http://bucket.s3.test:9000"),
        ] {
            let host = if path_style { "127.0.0.1" } else { "s3.test" };
            let settings = Settings {
                endpoint: format!("http://{host}:9000/"),
                path_style,
                ..at("s3://bucket")
            };
            assert_eq!(settings.s3_endpoint("bucket").unwrap(), expected);
        }
    }
}
