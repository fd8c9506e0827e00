//! Signs requests with AWS signature version 4 as S3 expects it.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{
        PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
        UriPathNormalizationMode, sign,
    },
    sign::v4,
};
use outbound::Request;
use reqwest::header::HeaderName;

use crate::{SourceProblem, problem::malformed};

/// The request with the headers that sign it now. `url` is that of the request, in the encoding of S3.
pub(super) fn signed(
    request: Request,
    credentials: &Credentials,
    region: &str,
    url: &str,
) -> Result<Request, SourceProblem> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the store compares the time with its own clock"
    )]
    let now = SystemTime::now();
    let headers = headers(credentials, region, url, now);
    let headers = headers.ok_or_else(|| malformed("it cannot be signed"))?;
    Ok(headers.into_iter().fold(request, |request, (name, value)| {
        request.header(name, &value)
    }))
}

fn headers(
    credentials: &Credentials,
    region: &str,
    url: &str,
    at: SystemTime,
) -> Option<Vec<(HeaderName, String)>> {
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    let identity = credentials.clone().into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("s3")
        .time(at)
        .settings(settings)
        .build()
        .ok()?
        .into();
    let request =
        SignableRequest::new("GET", url, std::iter::empty(), SignableBody::Bytes(b"")).ok()?;
    let (instructions, _) = sign(request, &params).ok()?.into_parts();
    let headers = instructions.headers().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, value.to_owned()))
    });
    headers.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The example of Amazon's documentation, “GET Bucket (List Objects)”.
    #[test]
    fn signs_as_the_documentation_does() {
        let keys = Credentials::new(
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            None,
            None,
            "test",
        );
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let url = "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J";
        let headers = headers(&keys, "us-east-1", url, at).unwrap();
        let value = |wanted: &str| {
            let mut headers = headers.iter();
            let found = headers.find(|(name, _)| name.as_str() == wanted);
            &*found.unwrap().1
        };
        assert_eq!(value("x-amz-date"), "20130524T000000Z");
        assert_eq!(
            value("x-amz-content-sha256"),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            value("authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;x-amz-content-sha256;x-amz-date, \
             Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }
}
