//! Trace export: our own settings and the standard OpenTelemetry variables.

use anyhow::Context;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use serde::Deserialize;

use super::Environment;

/// Settings of trace export.
#[derive(Debug, Clone)]
pub struct Tracing {
    /// The collector's URL including the path.
    pub endpoint: Url,
    /// Additional headers, such as an API key.
    pub headers: HeaderMap,
    /// The name of this server in traces.
    pub service_name: String,
    /// Whether traces include arguments, results and tasks.
    pub content: bool,
}

/// The settings as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTracing {
    endpoint: String,
    content: bool,
}

const PATH: &str = "v1/traces";

impl RawTracing {
    /// `None` if no collector is set.
    pub(super) fn check(self, environment: &Environment) -> anyhow::Result<Option<Tracing>> {
        let value = |name: &str| {
            environment
                .get(name)
                .map(|value| value.trim())
                .filter(|value| !value.is_empty())
        };
        let named = |name: &'static str| value(name).map(|value| (name, value));
        let whole = named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let own = Some(("tracing.endpoint", self.endpoint.trim()))
            .filter(|(_, endpoint)| !endpoint.is_empty());
        let base = own.or_else(|| named("OTEL_EXPORTER_OTLP_ENDPOINT").filter(|_| whole.is_none()));
        let Some((name, address)) = base.or(whole) else {
            return Ok(None);
        };
        let mut endpoint =
            Url::parse(address).with_context(|| format!("{name} is not an address"))?;
        anyhow::ensure!(
            matches!(endpoint.scheme(), "http" | "https") && endpoint.has_host(),
            "{name} must be an address such as http://127.0.0.1:4318"
        );
        if base.is_some() && !endpoint.path().ends_with(PATH) {
            let path = format!("{}/{PATH}", endpoint.path().trim_end_matches('/'));
            endpoint.set_path(&path);
        }
        let headers =
            value("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or(value("OTEL_EXPORTER_OTLP_HEADERS"));
        let headers =
            parse_headers(headers.unwrap_or_default()).context("OTEL_EXPORTER_OTLP_HEADERS")?;
        let service_name = value("OTEL_SERVICE_NAME")
            .unwrap_or("glasshouse")
            .to_owned();
        Ok(Some(Tracing {
            endpoint,
            headers,
            service_name,
            content: self.content,
        }))
    }
}

/// `name=value` pairs separated by commas, values percent-encoded. An invalid part is not quoted in the error: it may
/// be a key.
fn parse_headers(text: &str) -> anyhow::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .context("must be name=value, with commas between")?;
        let name =
            HeaderName::try_from(name.trim()).context("has a name that no header can have")?;
        let value = percent_decoded(value.trim())
            .context("has a value that is not percent-encoded text")?;
        let mut value =
            HeaderValue::try_from(value).context("has a value that no header can have")?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(endpoint: &str, environment: &[(&str, &str)]) -> anyhow::Result<Option<Tracing>> {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        RawTracing {
            endpoint: endpoint.to_owned(),
            content: false,
        }
        .check(&environment.collect())
    }

    #[test]
    fn our_own_setting_wins_and_the_usual_variables_are_known() {
        assert!(check("", &[]).unwrap().is_none());
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/x/");
        let whole = (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://other:1/traces",
        );
        for (own, environment, expected) in [
            ("http://here:4318", vec![base], "http://here:4318/v1/traces"),
            (
                "http://here:4318/v1/traces",
                vec![],
                "http://here:4318/v1/traces",
            ),
            ("", vec![base], "http://collector:4318/x/v1/traces"),
            ("", vec![base, whole], "http://other:1/traces"),
        ] {
            let tracing = check(own, &environment).unwrap().unwrap();
            assert_eq!(tracing.endpoint.as_str(), expected);
            assert_eq!(tracing.service_name, "glasshouse");
        }
        assert!(check("collector", &[]).is_err() && check("ftp://x", &[]).is_err());
    }

    #[test]
    fn headers_are_decoded_and_never_quoted() {
        let headers = |text| check("http://x", &[("OTEL_EXPORTER_OTLP_HEADERS", text)]);
        let tracing = headers("authorization=Bearer%20abc, x-team=a=b")
            .unwrap()
            .unwrap();
        assert_eq!(tracing.headers["authorization"], "Bearer abc");
        assert_eq!(tracing.headers["x-team"], "a=b");
        for wrong in ["secret", "a=%zz", "b c=secret"] {
            let error = format!("{:#}", headers(wrong).unwrap_err());
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
