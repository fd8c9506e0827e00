//! A bucket of an S3-compatible object store, listed with `ListObjectsV2`.

mod page;
mod sign;

use aws_credential_types::Credentials;
use bytes::Bytes;
use outbound::{Answer, Outbound, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, Url};
use serde::{Deserialize, Serialize};

use self::page::Page;
use crate::{
    Item, ItemMetadata, Listing, Readers, SettingProblem, SourceProblem, Surroundings,
    http::{self, Client, Pages},
    problem::{invalid, malformed, short},
    xml,
};

/// Maximum length of a name in the settings, bytes.
const MAX_NAME_BYTES: usize = 255;
/// Maximum length of a key, bytes.
const MAX_KEY_BYTES: usize = 1024;
/// The region of stores that have none.
const DEFAULT_REGION: &str = "us-east-1";
/// What a signature demands to be encoded in a query.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// The same in the path of a key.
const KEY: &AsciiSet = &QUERY.remove(b'/');

/// A bucket of an S3-compatible object store: AWS, MinIO, Garage, Ceph, R2 and others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct S3Settings {
    /// The address of the store, such as `https://minio.example.com`; absent for AWS.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The region, such as `eu-central-1`; `auto` for R2. Empty for a store without regions.
    #[serde(default)]
    pub region: String,
    /// The name of the bucket.
    pub bucket: String,
    /// Only keys that begin with this are listed, such as `handbook/`; keys rarely begin with a slash.
    #[serde(default)]
    pub prefix: String,
    /// The id of the access key; empty for a bucket that everyone may list. The secret is the secret access key.
    #[serde(default)]
    pub access_key_id: String,
}

/// A bucket with checked settings.
pub(crate) struct S3 {
    /// The address of the bucket, ending with a slash.
    bucket: String,
    region: String,
    prefix: String,
    credentials: Option<Credentials>,
}

impl S3 {
    pub(crate) fn new(
        settings: &S3Settings,
        secret: &str,
        outbound: &Outbound,
    ) -> Result<Self, SourceProblem> {
        let region = match settings.region.trim() {
            "" if settings.endpoint.is_none() => {
                return Err(invalid("region", SettingProblem::NoRegion));
            }
            "" => DEFAULT_REGION,
            region => region,
        };
        check_name("region", region)?;
        check_name("bucket", &settings.bucket)?;
        if settings.prefix.len() > MAX_KEY_BYTES {
            return Err(invalid("prefix", SettingProblem::TooLong));
        }
        let credentials = credentials(&settings.access_key_id, secret)?;
        let bucket = match &settings.endpoint {
            Some(endpoint) => {
                let endpoint = http::address(outbound, "endpoint", endpoint)?;
                if credentials.is_some() {
                    http::check_encrypted(outbound, "endpoint", &endpoint)?;
                }
                format!(
                    "{}/{}/",
                    endpoint.as_str().trim_end_matches('/'),
                    settings.bucket
                )
            }
            None => on_aws(region, &settings.bucket),
        };
        Ok(Self {
            bucket,
            region: region.to_owned(),
            prefix: settings.prefix.clone(),
            credentials,
        })
    }

    /// Lists the objects whose key begins with the prefix. Keys that end with a slash stand for folders and are left out.
    pub(crate) async fn list(&self, surroundings: &Surroundings) -> Result<Listing, SourceProblem> {
        let mut listing = Listing::default();
        let client = Client::new(&surroundings.outbound);
        let mut pages = Pages::new(surroundings.limits.items);
        let mut token = None;
        loop {
            pages.turn(token.as_deref().unwrap_or_default())?;
            let page = self.page(token.as_deref(), &client).await?;
            for object in page.objects {
                if object.key.ends_with('/') {
                    continue;
                }
                let item = Item {
                    name: self.name(&object.key),
                    id: object.key,
                    version: object.version,
                    size_bytes: object.size_bytes,
                    modified_ms: object.modified_ms,
                    url: None,
                    readers: Readers::All,
                    metadata: ItemMetadata::default(),
                };
                listing.add(item, surroundings.limits)?;
            }
            token = page.next;
            if token.is_none() {
                return Ok(listing);
            }
        }
    }

    /// Reads an object.
    pub(crate) async fn read(
        &self,
        item: &Item,
        surroundings: &Surroundings,
    ) -> Result<Bytes, SourceProblem> {
        item.check_size(surroundings.limits)?;
        let url = format!("{}{}", self.bucket, utf8_percent_encode(&item.id, KEY));
        let limit = surroundings.limits.item_bytes;
        let client = Client::new(&surroundings.outbound);
        let sent = client.send(|| self.request(&url, http::read_limits(limit, 0)));
        let sent = sent.await;
        if let Ok(answer) = &sent {
            check(answer)?;
        }
        http::item_body(sent, limit)
    }

    async fn page(&self, token: Option<&str>, client: &Client) -> Result<Page, SourceProblem> {
        let encoded = |text| utf8_percent_encode(text, QUERY);
        // Encoded keys may have characters that XML cannot.
        let mut url = format!("{}?list-type=2&encoding-type=url", self.bucket);
        if !self.prefix.is_empty() {
            url += &format!("&prefix={}", encoded(&self.prefix));
        }
        if let Some(token) = token {
            url += &format!("&continuation-token={}", encoded(token));
        }
        let answer = client.send(|| self.request(&url, http::list_limits(0)));
        let answer = answer.await?;
        check(&answer)?;
        page::read(&http::succeeded(answer)?.body)
    }

    fn request(&self, url: &str, limits: outbound::Limits) -> Result<Request, SourceProblem> {
        let parsed: Option<Url> = url.parse().ok();
        // Segments such as `..` would lead to another object.
        let parsed = parsed.filter(|parsed| parsed.as_str() == url);
        let parsed =
            parsed.ok_or_else(|| malformed("a key with . or .. as a folder cannot be read"))?;
        let request = Request::new(Method::GET, parsed, limits);
        match &self.credentials {
            Some(credentials) => sign::signed(request, credentials, &self.region, url),
            None => Ok(request),
        }
    }

    /// A key as a path, without the folders that the prefix names.
    fn name(&self, key: &str) -> String {
        let folders = self.prefix.rfind('/').map_or(0, |slash| slash + 1);
        let parts = key.get(folders..).unwrap_or(key).split('/');
        let parts = parts.filter(|part| !matches!(*part, "" | "." | ".."));
        parts.collect::<Vec<_>>().join("/")
    }
}

/// The address of a bucket on AWS. The certificate covers no bucket with a dot.
fn on_aws(region: &str, bucket: &str) -> String {
    let domain = if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else {
        "amazonaws.com"
    };
    if bucket.contains(['.', '_']) || bucket.contains(char::is_uppercase) {
        format!("https://s3.{region}.{domain}/{bucket}/")
    } else {
        format!("https://{bucket}.s3.{region}.{domain}/")
    }
}

fn credentials(id: &str, secret: &str) -> Result<Option<Credentials>, SourceProblem> {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    match (id, secret) {
        ("", "") => Ok(None),
        ("", _) => Err(invalid("access_key_id", SettingProblem::NoKeyId)),
        (_, "") => Err(SourceProblem::Refused),
        (id, _) if !is_word(id) || id.contains(['/', ',']) => {
            Err(invalid("access_key_id", SettingProblem::Characters))
        }
        _ => Ok(Some(Credentials::new(id, secret, None, None, "source"))),
    }
}

fn check_name(field: &'static str, name: &str) -> Result<(), SourceProblem> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_name = name.bytes().all(is_letter) && !matches!(name, "" | "." | "..");
    if is_name && name.len() <= MAX_NAME_BYTES {
        Ok(())
    } else {
        Err(invalid(field, SettingProblem::NotPlain))
    }
}

/// What S3 says about an error, where that is more than its status.
fn check(answer: &Answer) -> Result<(), SourceProblem> {
    if answer.status.is_success() {
        return Ok(());
    }
    let region = answer.headers.get("x-amz-bucket-region");
    let mut region = region.and_then(|region| region.to_str().ok().map(str::to_owned));
    let error = xml::parse(&answer.body).unwrap_or_default();
    let code = error.text_of(&error.space, "Code").unwrap_or_default();
    if let Some(named) = error.text_of(&error.space, "Region") {
        region = Some(named.to_owned());
    }
    match (code, region) {
        ("PermanentRedirect" | "AuthorizationHeaderMalformed", region) => {
            let region = region.map(|region| short(&region));
            let reason = region.map_or(SettingProblem::UnknownRegion, SettingProblem::OtherRegion);
            Err(invalid("region", reason))
        }
        ("NoSuchBucket", _) => Err(SourceProblem::NotFound),
        ("InvalidObjectState", _) => Err(malformed("the object is archived")),
        ("RequestTimeTooSkewed", _) => Err(malformed("the clock of one server is wrong")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use outbound::Allowed;

    use super::*;

    fn settings(endpoint: Option<&str>, region: &str, bucket: &str) -> S3Settings {
        S3Settings {
            endpoint: endpoint.map(str::to_owned),
            region: region.to_owned(),
            bucket: bucket.to_owned(),
            prefix: "docs/20".to_owned(),
            access_key_id: "id".to_owned(),
        }
    }

    fn new(settings: &S3Settings, secret: &str) -> Result<S3, SourceProblem> {
        S3::new(settings, secret, &Outbound::new(Allowed::default()))
    }

    #[test]
    fn buckets_have_an_address() {
        for (endpoint, region, bucket, expected) in [
            (
                None,
                "eu-central-1",
                "docs",
                "https://docs.s3.eu-central-1.amazonaws.com/",
            ),
            (
                None,
                "eu-central-1",
                "docs.example.com",
                "https://s3.eu-central-1.amazonaws.com/docs.example.com/",
            ),
            (
                None,
                "cn-north-1",
                "docs",
                "https://docs.s3.cn-north-1.amazonaws.com.cn/",
            ),
            (
                Some("https://minio.example.com:9000/"),
                "",
                "docs",
                "https://minio.example.com:9000/docs/",
            ),
            (
                Some("https://example.com/s3"),
                "",
                "docs",
                "https://example.com/s3/docs/",
            ),
        ] {
            let s3 = new(&settings(endpoint, region, bucket), "secret").unwrap();
            assert_eq!(s3.bucket, expected);
            for (key, name) in [
                ("docs/2024/a.md", "2024/a.md"),
                ("docs/20.md", "20.md"),
                ("docs/20//../b", "20/b"),
            ] {
                assert_eq!(s3.name(key), name);
            }
        }
    }

    #[test]
    fn invalid_settings_are_named() {
        for (endpoint, region, bucket, expected) in [
            (None, "", "docs", "region"),
            (None, "eu/../x", "docs", "region"),
            (None, "eu", "..", "bucket"),
            (None, "eu", "docs/x", "bucket"),
            (None, "eu", "", "bucket"),
            (Some("minio:9000"), "", "docs", "endpoint"),
            (Some("https://user@example.com"), "", "docs", "endpoint"),
            (Some("https://example.com/?a"), "", "docs", "endpoint"),
            (Some("http://127.0.0.1:9000"), "", "docs", "endpoint"),
            (Some("http://minio.example.com"), "", "docs", "endpoint"),
        ] {
            match new(&settings(endpoint, region, bucket), "secret").err() {
                Some(SourceProblem::Settings { field, .. }) => assert_eq!(field, expected),
                other => panic!("{endpoint:?} {region} {bucket}: {other:?}"),
            }
        }
        let no_secret = new(&settings(None, "eu-central-1", "docs"), "").err();
        assert_eq!(no_secret, Some(SourceProblem::Refused));
    }

    #[test]
    fn keys_that_a_url_cannot_have_are_not_asked_for() {
        let s3 = new(&settings(None, "eu-central-1", "docs"), "secret").unwrap();
        for (key, is_possible) in [
            ("a//b", true),
            ("/a", true),
            ("a b+c/ü%41?#\n", true),
            ("...", true),
            ("a/../b", false),
            ("./a", false),
            ("..", false),
        ] {
            let url = format!("{}{}", s3.bucket, utf8_percent_encode(key, KEY));
            let asked = s3.request(&url, http::list_limits(0));
            assert_eq!(asked.is_ok(), is_possible, "{key}");
        }
    }
}
