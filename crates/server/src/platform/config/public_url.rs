//! `public_url`: the URL under which people reach the server.

/// First segments of the server's own paths. Below one of them, a path that the proxy has stripped could not be told
/// from one that it has kept.
pub(crate) const OWN_SEGMENTS: [&str; 17] = [
    "ag-ui",
    "api",
    "assets",
    "chat",
    "copilotkit",
    "documentation",
    "files",
    "healthz",
    "mcp",
    "metrics",
    "oauth",
    "openapi.json",
    "readyz",
    "runs",
    "tasks",
    "v1",
    "ws",
];

/// The URL under which people reach the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    /// Whether it is `https`.
    pub secure: bool,
    /// Host and, unless it is the default, port; lower case.
    pub authority: String,
    /// The path below which a proxy serves the server, such as `/ai`; usually empty. It needs no encoding anywhere.
    pub path: String,
}

impl PublicUrl {
    /// Parses it.
    ///
    /// # Errors
    /// A sentence with the expected form.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let url: axum::http::Uri = text.parse().map_err(|_| invalid_public_url(text))?;
        let secure = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid_public_url(text)),
        };
        let authority = url.authority().map(|a| a.as_str().to_ascii_lowercase());
        match authority {
            Some(authority) if !authority.contains('@') && url.query().is_none() => Ok(Self {
                secure,
                authority,
                path: checked_path(text, url.path().trim_end_matches('/'))?,
            }),
            _ => Err(invalid_public_url(text)),
        }
    }

    /// The origin, without a trailing slash.
    #[must_use]
    pub fn origin(&self) -> String {
        format!(
            "http{}://{}",
            if self.secure { "s" } else { "" },
            self.authority
        )
    }

    /// The whole URL, without a trailing slash.
    #[must_use]
    pub fn base(&self) -> String {
        self.origin() + &self.path
    }
}

fn checked_path(text: &str, path: &str) -> anyhow::Result<String> {
    let mut segments = path.split('/').skip(1);
    let is_plain = |segment: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        segment.bytes().all(known) && !matches!(segment, "" | "." | "..")
    };
    if !segments.clone().all(is_plain) {
        return Err(invalid_public_url(text));
    }
    let first = segments.next().unwrap_or_default();
    anyhow::ensure!(
        !OWN_SEGMENTS.contains(&first),
        "public_url is “{text}”, but paths of the server itself begin with /{first}: serve it below another path"
    );
    Ok(path.to_owned())
}

fn invalid_public_url(text: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "public_url is “{text}”, but must be scheme, host, and perhaps port and path: https://ai.example.org or \
         https://example.org/ai"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_plain_and_not_one_of_the_servers_own() {
        for (text, base) in [
            ("https://AI.example.org", Some("https://ai.example.org")),
            ("https://ai.example.org/", Some("https://ai.example.org")),
            ("http://a.example:81/ai/", Some("http://a.example:81/ai")),
            (
                "https://a.example/Tools/ai-2",
                Some("https://a.example/Tools/ai-2"),
            ),
            ("https://a.example/apis", Some("https://a.example/apis")),
            ("https://a.example/api", None),
            ("https://a.example/chat/ai", None),
            ("https://a.example//ai", None),
            ("https://a.example/a//b", None),
            ("https://a.example/..", None),
            ("https://a.example/a/../b", None),
            ("https://a.example/%61i", None),
            ("https://a.example/a\"b", None),
            ("https://a.example/ai?x=1", None),
            ("https://me@a.example/ai", None),
            ("a.example/ai", None),
        ] {
            let parsed = PublicUrl::parse(text).ok().map(|url| url.base());
            assert_eq!(parsed.as_deref(), base, "{text}");
        }
    }
}
