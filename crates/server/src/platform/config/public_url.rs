//! `public_url`: the URL under which people reach the server.

/// The URL under which people reach the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    /// Whether it is `https`.
    pub secure: bool,
    /// Host and, unless it is the default, port; lower case.
    pub authority: String,
}

impl PublicUrl {
    /// Parses it.
    ///
    /// # Errors
    /// A sentence with the expected form.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let url: axum::http::Uri = text
            .trim_end_matches('/')
            .parse()
            .map_err(|_| invalid_public_url(text))?;
        let secure = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid_public_url(text)),
        };
        let authority = url.authority().map(|a| a.as_str().to_ascii_lowercase());
        match authority {
            Some(authority) if !authority.contains('@') && matches!(url.path(), "" | "/") => {
                Ok(Self { secure, authority })
            }
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
}

fn invalid_public_url(text: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "public_url is “{text}”, but must be scheme, host and perhaps port: https://ai.example.org"
    )
}
