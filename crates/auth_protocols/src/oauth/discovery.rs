//! Discovery of a server's authorization server: from its challenge (RFC 9728) and the authorization server's metadata
//! (RFC 8414).

use reqwest::{Method, StatusCode, Url, header};
use serde_json::{Value, json};

use super::web::{Web, same_server};
use crate::messages;

/// The maximum length of a requested list of scopes, in bytes.
const SCOPES_LIMIT_BYTES: usize = 2_000;

/// The discovered authorization server.
#[derive(Debug, Clone)]
pub struct AuthorizationServer {
    /// The resource that tokens are requested for.
    pub resource: String,
    /// The issuer of the authorization server.
    pub issuer: String,
    /// The authorization endpoint, for the browser.
    pub authorize: Url,
    /// The token endpoint.
    pub token: Url,
    /// The endpoint for dynamic client registration.
    pub(super) register: Option<Url>,
    /// The revocation endpoint.
    pub revoke: Option<Url>,
    /// The scopes to request, if the server names them.
    pub scopes: Option<String>,
    /// Whether the `offline_access` scope is supported.
    pub offline: bool,
    /// Whether the redirect back contains the issuer (RFC 9207).
    pub names_issuer: bool,
    /// The supported client authentication methods of the token endpoint.
    pub methods: Vec<String>,
}

/// Discovers the authorization server of an MCP server.
///
/// # Errors
/// If none can be discovered.
pub async fn discover(web: &Web<'_>) -> Result<AuthorizationServer, messages::OAuth> {
    let challenge = challenge(web).await?;
    let protected = protected_resource(web, &challenge).await?;
    let (resource, issuer) = match &protected {
        Some(about) => (
            named_resource(web.server, about)?,
            first_issuer(web, about)?,
        ),
        // With protocol version 2025-03-26, the server is its own authorization server.
        None => (
            web.server.to_string(),
            web.server
                .join("/")
                .map_err(|_| messages::OAuth::SignInNoAddress)?,
        ),
    };
    let scopes =
        parameter(&challenge, "scope").or_else(|| list(protected.as_ref()?, "scopes_supported"));
    let mut found = match metadata(web, &issuer).await? {
        Some(about) => read(web, resource, &issuer, &about)?,
        None if protected.is_none() => usual(resource, &issuer)?,
        None => return Err(messages::OAuth::SignInNoWay),
    };
    found.scopes = scopes.filter(|scopes| scopes.len() <= SCOPES_LIMIT_BYTES);
    Ok(found)
}

/// The server's challenge to a request without a token.
async fn challenge(web: &Web<'_>) -> Result<String, messages::OAuth> {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "glasshouse", "version": env!("CARGO_PKG_VERSION")},
    }});
    let request = web.request(Method::POST, web.server.as_str())?.json(&hello);
    let answer = web
        .head(request.header(header::ACCEPT, "text/event-stream"))
        .await?;
    if answer.status != StatusCode::UNAUTHORIZED && answer.status.is_success() {
        return Err(messages::OAuth::SignInNotNeeded);
    }
    let all = answer.headers.get_all(header::WWW_AUTHENTICATE).iter();
    Ok(all
        .filter_map(|value| value.to_str().ok())
        .collect::<Vec<_>>()
        .join(", "))
}

/// The server's protected resource metadata; `None` if it has none.
async fn protected_resource(
    web: &Web<'_>,
    challenge: &str,
) -> Result<Option<Value>, messages::OAuth> {
    if let Some(named) = parameter(challenge, "resource_metadata") {
        let about = web.find(&web.allowed(&named)?).await?;
        return about.map(Some).ok_or(messages::OAuth::SignInUnreadable);
    }
    let path = web.server.path().trim_end_matches('/');
    for place in well_known(
        web.server,
        &[
            &format!("oauth-protected-resource{path}"),
            "oauth-protected-resource",
        ],
    ) {
        if let Some(about) = web.find(&place).await? {
            return Ok(Some(about));
        }
    }
    Ok(None)
}

/// The resource in the metadata, which has to be this server: a token for it must not be one for another server.
fn named_resource(server: &Url, about: &Value) -> Result<String, messages::OAuth> {
    let named = about
        .get("resource")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let url: Option<Url> = named.parse().ok();
    let ours = url.is_some_and(|url| {
        let base = url.path().trim_end_matches('/');
        let path = server.path();
        same_server(&url, server)
            && path
                .strip_prefix(base)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if ours {
        Ok(named.to_owned())
    } else {
        Err(messages::OAuth::SignInTokensElsewhere)
    }
}

fn first_issuer(web: &Web<'_>, about: &Value) -> Result<Url, messages::OAuth> {
    let named = about
        .get("authorization_servers")
        .and_then(|all| all.get(0))
        .and_then(Value::as_str);
    web.allowed(named.ok_or(messages::OAuth::SignInNoServerNamed)?)
}

/// The metadata of the authorization server, if it is found.
async fn metadata(web: &Web<'_>, issuer: &Url) -> Result<Option<Value>, messages::OAuth> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = well_known(
        issuer,
        &[
            &format!("oauth-authorization-server{path}"),
            &format!("openid-configuration{path}"),
        ],
    );
    if !path.is_empty() {
        let mut inside = issuer.clone();
        inside.set_path(&format!("{path}/.well-known/openid-configuration"));
        places.push(inside);
    }
    for place in places {
        if let Some(about) = web.find(&place).await? {
            return Ok(Some(about));
        }
    }
    Ok(None)
}

fn well_known(at: &Url, names: &[&str]) -> Vec<Url> {
    let place = |name: &&str| {
        let mut url = at.clone();
        url.set_path(&format!("/.well-known/{name}"));
        url.set_query(None);
        url.set_fragment(None);
        url
    };
    names.iter().map(place).collect()
}

fn read(
    web: &Web<'_>,
    resource: String,
    issuer: &Url,
    about: &Value,
) -> Result<AuthorizationServer, messages::OAuth> {
    let text = |key: &str| about.get(key).and_then(Value::as_str);
    let named = text("issuer").unwrap_or_default();
    if named.trim_end_matches('/') != issuer.as_str().trim_end_matches('/') {
        return Err(messages::OAuth::SignInOtherName);
    }
    let place = |key: &str| text(key).map(|place| web.allowed(place)).transpose();
    let needed = |key: &str| place(key)?.ok_or(messages::OAuth::SignInNoPlace);
    let has = |key: &str, word: &str| {
        about
            .get(key)
            .and_then(Value::as_array)
            .is_some_and(|all| all.iter().any(|one| one == word))
    };
    if !has("code_challenge_methods_supported", "S256") {
        return Err(messages::OAuth::SignInUnprotected);
    }
    let methods = about
        .get("token_endpoint_auth_methods_supported")
        .and_then(Value::as_array);
    let methods = methods
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    Ok(AuthorizationServer {
        resource,
        issuer: named.to_owned(),
        authorize: needed("authorization_endpoint")?,
        token: needed("token_endpoint")?,
        register: place("registration_endpoint")?,
        revoke: place("revocation_endpoint")?,
        scopes: None,
        offline: has("scopes_supported", "offline_access"),
        names_issuer: about.get("authorization_response_iss_parameter_supported")
            == Some(&Value::Bool(true)),
        methods,
    })
}

/// The default endpoints of servers of version 2025-03-26 without metadata.
fn usual(resource: String, issuer: &Url) -> Result<AuthorizationServer, messages::OAuth> {
    let place = |path: &str| {
        issuer
            .join(path)
            .map_err(|_| messages::OAuth::SignInNoAddress)
    };
    Ok(AuthorizationServer {
        resource,
        issuer: issuer.to_string(),
        authorize: place("/authorize")?,
        token: place("/token")?,
        register: Some(place("/register")?),
        revoke: None,
        scopes: None,
        offline: false,
        names_issuer: false,
        methods: Vec::new(),
    })
}

fn list(about: &Value, key: &str) -> Option<String> {
    let words: Vec<&str> = about
        .get(key)?
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The value of `name="value"` or `name=value` in a challenge.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    loop {
        let (before, after) = rest.split_once(name)?;
        let begins = before.ends_with([' ', ',', '\t']);
        if let Some(value) = after.trim_start().strip_prefix('=').filter(|_| begins) {
            let value = value.trim_start();
            let end = |text: &str, ends: &[char]| text.split(ends).next().map(str::to_owned);
            return match value.strip_prefix('"') {
                Some(quoted) => end(quoted, &['"']),
                None => end(value, &[',', ' ']),
            };
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_challenges() {
        let challenge = r#"Basic realm="a scope=x", Bearer error="e", resource_metadata="https://a/b", scope="a b""#;
        assert_eq!(
            parameter(challenge, "resource_metadata").as_deref(),
            Some("https://a/b")
        );
        assert_eq!(
            parameter("Bearer scope=a, x=y", "scope").as_deref(),
            Some("a")
        );
        assert_eq!(parameter("Bearer xscope=\"a\"", "scope"), None);
        assert_eq!(parameter("", "scope"), None);
    }

    #[test]
    fn tokens_are_for_the_server_and_no_other() {
        let server: Url = "https://a.example/one/mcp".parse().unwrap();
        for (named, ours) in [
            ("https://a.example/one/mcp", true),
            ("https://a.example/one", true),
            ("https://a.example/", true),
            ("https://a.example/on", false),
            ("https://a.example/one/mcp/more", false),
            ("https://b.example/one/mcp", false),
            ("http://a.example/one/mcp", false),
            ("", false),
        ] {
            assert_eq!(
                named_resource(&server, &json!({ "resource": named })).is_ok(),
                ours,
                "{named}"
            );
        }
    }
}
