//! Verifies AWS Signature Version 4 by recomputing it, as the service does.

use data_encoding::HEXLOWER;
use ring::{digest, hmac};

use crate::Request;

const ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// The access key that signs requests here, in the format of a connection's key: the one from AWS's examples.
pub const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// Verifies that the complete request is signed with our key.
pub(super) fn check(request: &Request) -> Result<(), String> {
    let given = request
        .header("authorization")
        .and_then(Authorization::read);
    let (Some(given), Some(at)) = (given, request.header("x-amz-date")) else {
        return Err("Missing Authentication Token".to_owned());
    };
    let must = ["host", "x-amz-date"];
    let is_whole = must
        .iter()
        .all(|name| given.headers.split(';').any(|signed| signed == *name));
    if !is_whole || given.signature != signature(request, &given, at) {
        return Err(
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access \
             Key and signing method. Consult the service documentation for details."
                .to_owned(),
        );
    }
    Ok(())
}

/// The fields of the header.
struct Authorization<'a> {
    /// Date, region, service and a constant suffix.
    scope: &'a str,
    headers: &'a str,
    signature: &'a str,
}

impl<'a> Authorization<'a> {
    fn read(header: &'a str) -> Option<Self> {
        let mut parts = header.strip_prefix("AWS4-HMAC-SHA256 ")?.split(", ");
        let mut part = |name| parts.next()?.strip_prefix(name);
        Some(Self {
            scope: part("Credential=")?.strip_prefix(ID)?.strip_prefix('/')?,
            headers: part("SignedHeaders=")?,
            signature: part("Signature=")?,
        })
    }
}

fn signature(request: &Request, given: &Authorization<'_>, at: &str) -> String {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let header = |name: &str| {
        format!(
            "{name}:{}\n",
            request.header(name).unwrap_or_default().trim()
        )
    };
    let headers: String = given.headers.split(';').map(header).collect();
    let canonical = format!(
        "POST\n{}\n{query}\n{headers}\n{}\n{}",
        encoded(path),
        given.headers,
        HEXLOWER.encode(digest::digest(&digest::SHA256, &request.bytes).as_ref())
    );
    let canonical = HEXLOWER.encode(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{at}\n{}\n{canonical}", given.scope);
    let sign = |key: &[u8], text: &str| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
            .as_ref()
            .to_vec()
    };
    let first = format!("AWS4{SECRET}").into_bytes();
    let key = given
        .scope
        .split('/')
        .fold(first, |key, part| sign(&key, part));
    HEXLOWER.encode(&sign(&key, &text))
}

/// The path encoded a second time, as required by all services except S3.
fn encoded(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::Value;

    use super::*;

    /// The example `post-vanilla` of AWS's test suite, for a service named `service`.
    #[test]
    fn agrees_with_the_example_of_aws() {
        let given = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20150830/us-east-1/service/aws4_request, \
            SignedHeaders=host;x-amz-date, Signature=0";
        let headers = [
            ("host", "example.amazonaws.com"),
            ("x-amz-date", "20150830T123600Z"),
        ];
        let parsed = |(name, value): (&'static str, &str)| {
            (
                hyper::header::HeaderName::from_static(name),
                value.parse().unwrap(),
            )
        };
        let mut request = Request {
            number: 1,
            path: "/".to_owned(),
            headers: headers.into_iter().map(parsed).collect(),
            bytes: Bytes::new(),
            body: Value::Null,
        };
        assert_eq!(
            check(&request),
            Err("Missing Authentication Token".to_owned())
        );
        let right = signature(
            &request,
            &Authorization::read(given).unwrap(),
            "20150830T123600Z",
        );
        let signed = given.replace("Signature=0", &format!("Signature={right}"));
        request
            .headers
            .insert("authorization", signed.parse().unwrap());
        assert_eq!(check(&request), Ok(()));
        request.bytes = Bytes::from_static(b"{}");
        assert!(
            check(&request)
                .unwrap_err()
                .starts_with("The request signature we calculated")
        );
    }
}
