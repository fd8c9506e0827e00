//! `[web]`: settings of web search and page reading.

use std::{path::PathBuf, sync::Arc, time::Duration};

use llm::Secret;
use outbound::plain_host;
use reqwest::Url;
use serde::Deserialize;
use web_access::{BrowserKind, BrowserSettings, SearchKind, SearchSettings};

use super::Environment;

/// Settings of web search and page reading.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// The search providers, in the order in which they are tried; empty disables the search.
    pub searches: Vec<Search>,
    /// Whether agents read pages.
    pub fetch: bool,
    /// How long a stored copy is used without asking the server again.
    pub fresh_ms: i64,
    /// Maximum total size of a person's copies.
    pub person_bytes: u64,
    /// How pages are fetched.
    pub client: Arc<web_access::Settings>,
}

/// A search provider.
#[derive(Debug, Clone)]
pub enum Search {
    /// A search service.
    Service(SearchSettings),
    /// Our own index of crawled pages.
    Own,
    /// A tool of an MCP server, by its name for models.
    Tool(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWeb {
    search: String,
    search_url: String,
    search_key: String,
    search_tool: String,
    brave_url: String,
    brave_key: String,
    tavily_url: String,
    tavily_key: String,
    fetch: bool,
    robots: bool,
    pause_ms: u64,
    seconds: u64,
    page_mb: u64,
    fresh_minutes: u32,
    person_mb: u64,
    browser: String,
    browser_key: String,
    browser_hosts: Vec<String>,
    browser_seconds: u64,
}

impl RawWeb {
    /// `servers` are the MCP servers, each with whether people sign in to it.
    pub(super) fn check(
        self,
        servers: &[(&str, bool)],
        environment: &Environment,
    ) -> anyhow::Result<WebSettings> {
        anyhow::ensure!(
            self.pause_ms <= 60_000,
            "web.pause_ms must be at most 60000"
        );
        anyhow::ensure!(
            (1..=600).contains(&self.seconds),
            "web.seconds must be 1 to 600"
        );
        anyhow::ensure!(
            (1..=100).contains(&self.page_mb),
            "web.page_mb must be 1 to 100"
        );
        anyhow::ensure!(
            (1..=1_000_000).contains(&self.person_mb),
            "web.person_mb must be 1 to 1000000"
        );
        Ok(WebSettings {
            searches: searches(&self, servers)?,
            fetch: self.fetch,
            fresh_ms: i64::from(self.fresh_minutes) * 60_000,
            person_bytes: self.person_mb * 1_000_000,
            client: Arc::new(web_access::Settings {
                robots: self.robots,
                pause: Duration::from_millis(self.pause_ms),
                time: Duration::from_secs(self.seconds),
                page_bytes: self.page_mb * 1_000_000,
                browser: browser(&self, environment)?,
            }),
        })
    }
}

fn browser(raw: &RawWeb, environment: &Environment) -> anyhow::Result<Option<BrowserSettings>> {
    anyhow::ensure!(
        (5..=120).contains(&raw.browser_seconds),
        "web.browser_seconds must be 5 to 120"
    );
    let kind = match raw.browser.trim() {
        "" => return Ok(None),
        "auto" => BrowserKind::Chromium(find_chromium(environment)?),
        path if path.starts_with('/') => BrowserKind::Chromium(path.into()),
        address => {
            let (host, mut url) = address_of(address).ok_or_else(|| {
                anyhow::anyhow!(
                    "web.browser is “{address}”, but must be auto, the whole path of a Chromium, or the address of a \
                     Crawl4AI such as https://crawl.example.org"
                )
            })?;
            if !url.path().ends_with("/crawl") {
                let path = format!("{}/crawl", url.path().trim_end_matches('/'));
                url.set_path(&path);
            }
            let key = (!raw.browser_key.is_empty()).then(|| Secret::new(raw.browser_key.clone()));
            BrowserKind::Crawl4Ai { url, host, key }
        }
    };
    let hosts = raw.browser_hosts.iter().map(|host| {
        let url = format!("http://{}/", host.trim()).parse::<Url>().ok();
        let plain = url
            .filter(|url| url.path() == "/" && url.port().is_none())
            .and_then(|url| plain_host(&url));
        plain.ok_or_else(|| {
            anyhow::anyhow!("web.browser_hosts has “{host}”, but takes names of hosts")
        })
    });
    let hosts = hosts.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Some(BrowserSettings {
        kind,
        hosts,
        time: Duration::from_secs(raw.browser_seconds),
    }))
}

/// The first Chromium on the `PATH`.
fn find_chromium(environment: &Environment) -> anyhow::Result<PathBuf> {
    const NAMES: [&str; 4] = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let path = environment
        .get("PATH")
        .map(String::as_str)
        .unwrap_or_default();
    let all = NAMES
        .iter()
        .flat_map(|name| std::env::split_paths(path).map(move |folder| folder.join(name)));
    let found = all
        .filter(|program| program.is_absolute())
        .find(|program| program.is_file());
    found.ok_or_else(|| {
        anyhow::anyhow!(
            "web.browser is auto, but there is no Chromium on the path; install one, or name it"
        )
    })
}

/// An HTTP URL with its host.
fn address_of(text: &str) -> Option<(String, Url)> {
    let url = text
        .parse()
        .ok()
        .filter(|url: &Url| matches!(url.scheme(), "http" | "https"))?;
    Some((plain_host(&url)?, url))
}

/// All providers in `web.search`, in order.
fn searches(raw: &RawWeb, servers: &[(&str, bool)]) -> anyhow::Result<Vec<Search>> {
    let names: Vec<&str> = raw
        .search
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let twice = names
        .iter()
        .enumerate()
        .find(|(place, name)| names[..*place].contains(name));
    if let Some((_, name)) = twice {
        anyhow::bail!("web.search names “{name}” twice");
    }
    let services: Vec<SearchKind> = names.iter().filter_map(|name| kind_of(name)).collect();
    names
        .into_iter()
        .map(|name| search(raw, name, &services, servers))
        .collect()
}

/// The service with this name.
fn kind_of(name: &str) -> Option<SearchKind> {
    [
        ("searxng", SearchKind::Searxng),
        ("brave", SearchKind::Brave),
        ("tavily", SearchKind::Tavily),
    ]
    .into_iter()
    .find_map(|(other, kind)| (other == name).then_some(kind))
}

/// One of them. `search_url` belongs to SearXNG if it is among the services, otherwise to the first one; `search_key`
/// belongs to the first.
fn search(
    raw: &RawWeb,
    name: &str,
    services: &[SearchKind],
    servers: &[(&str, bool)],
) -> anyhow::Result<Search> {
    let kind = match name {
        "own" => return Ok(Search::Own),
        "mcp" => return Ok(Search::Tool(search_tool(&raw.search_tool, servers)?)),
        other => kind_of(other).ok_or_else(|| {
            anyhow::anyhow!(
                "web.search has “{other}”, but must be searxng, brave, tavily, mcp or own, several with commas between, or \
                 empty for none"
            )
        })?,
    };
    let is_first = services.first() == Some(&kind);
    let has_url =
        kind == SearchKind::Searxng || (is_first && !services.contains(&SearchKind::Searxng));
    let (own_url, own_key) = match kind {
        SearchKind::Searxng => ("", ""),
        SearchKind::Brave => (&*raw.brave_url, &*raw.brave_key),
        SearchKind::Tavily => (&*raw.tavily_url, &*raw.tavily_key),
    };
    let common_url = if has_url { &*raw.search_url } else { "" };
    let common_key = if is_first { &*raw.search_key } else { "" };
    let first = |all: [&'_ str; 3]| {
        all.into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default()
            .to_owned()
    };
    let url = first([own_url, common_url, usual_url(kind)]);
    let key = first([own_key, common_key, ""]);
    let key_setting = if is_first {
        "search_key".to_owned()
    } else {
        format!("{name}_key")
    };
    let secret = (!key.is_empty()).then(|| Secret::new(key));
    let service = search_service(kind, &url, secret);
    service.map(Search::Service).map_err(|missing| match missing {
        Missing::Url => anyhow::anyhow!("web.search_url is missing: the address of your SearXNG"),
        Missing::Address => anyhow::anyhow!(
            "web.search_url is “{url}”, but must be an address such as https://search.example.org"
        ),
        Missing::Key => anyhow::anyhow!("web.{key_setting} is missing: {name} asks for a key"),
    })
}

fn search_tool(tool: &str, servers: &[(&str, bool)]) -> anyhow::Result<String> {
    let named = tool.split_once("__").filter(|(_, name)| !name.is_empty());
    let (server, _) = named.ok_or_else(|| {
        anyhow::anyhow!(
            "web.search_tool is “{tool}”, but must be the name of a tool as Settings → Agents, skills and tools has it, such as finder__search"
        )
    })?;
    match servers.iter().find(|(name, _)| *name == server) {
        None => anyhow::bail!("web.search_tool is “{tool}”, but mcp_servers has no “{server}”"),
        Some((_, true)) => anyhow::bail!(
            "web.search_tool is “{tool}”, but people sign in to “{server}”; it must be a server that all use alike"
        ),
        Some((_, false)) => Ok(tool.to_owned()),
    }
}

/// What a service's settings lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The URL.
    Url,
    /// A valid URL.
    Address,
    /// The API key.
    Key,
}

/// The URL of a hosted service; empty for SearXNG, which may be anywhere.
pub(crate) fn usual_url(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Searxng => "",
        SearchKind::Brave => "https://api.search.brave.com/res/v1/web/search",
        SearchKind::Tavily => "https://api.tavily.com/search",
    }
}

/// # Errors
/// What the settings lack.
pub(crate) fn search_service(
    kind: SearchKind,
    url: &str,
    key: Option<Secret>,
) -> Result<SearchSettings, Missing> {
    if url.is_empty() {
        return Err(Missing::Url);
    }
    let (host, mut url) = address_of(url).ok_or(Missing::Address)?;
    if kind == SearchKind::Searxng && !url.path().ends_with("/search") {
        let path = format!("{}/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    if key.is_none() && kind != SearchKind::Searxng {
        return Err(Missing::Key);
    }
    Ok(SearchSettings {
        kind,
        url,
        host,
        key,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(name: &str, url: &str, key: &str, tool: &str) -> RawWeb {
        RawWeb {
            search: name.to_owned(),
            search_url: url.to_owned(),
            search_key: key.to_owned(),
            search_tool: tool.to_owned(),
            brave_url: String::new(),
            brave_key: String::new(),
            tavily_url: String::new(),
            tavily_key: String::new(),
            fetch: true,
            robots: true,
            pause_ms: 0,
            seconds: 1,
            page_mb: 1,
            fresh_minutes: 1,
            person_mb: 1,
            browser: String::new(),
            browser_key: String::new(),
            browser_hosts: Vec::new(),
            browser_seconds: 15,
        }
    }

    #[test]
    fn a_browser_is_a_program_or_an_address() {
        let browser = |name: &str, hosts: &[&str]| {
            let browser_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let raw = RawWeb {
                browser: name.to_owned(),
                browser_hosts,
                ..raw("", "", "", "")
            };
            browser(
                &raw,
                &Environment::from([("PATH".to_owned(), "/nowhere:/nothing".to_owned())]),
            )
        };
        assert!(browser("", &[]).unwrap().is_none());
        let named = browser("/opt/chromium", &["App.example.org", "127.0.0.1"])
            .unwrap()
            .unwrap();
        assert!(
            matches!(named.kind, BrowserKind::Chromium(path) if path.to_str() == Some("/opt/chromium"))
        );
        assert_eq!(named.hosts, ["app.example.org", "127.0.0.1"]);
        let BrowserKind::Crawl4Ai { url, host, .. } = browser("http://10.0.0.9:11235/", &[])
            .unwrap()
            .unwrap()
            .kind
        else {
            panic!("an address")
        };
        assert_eq!(
            (url.as_str(), host.as_str()),
            ("http://10.0.0.9:11235/crawl", "10.0.0.9")
        );
        for (name, hosts, words) in [
            ("firefox", &[][..], "must be auto"),
            ("auto", &[], "no Chromium on the path"),
            (
                "/opt/chromium",
                &["https://a.example"],
                "takes names of hosts",
            ),
            ("/opt/chromium", &["a.example/x"], "takes names of hosts"),
            ("/opt/chromium", &[""], "takes names of hosts"),
        ] {
            let error = browser(name, hosts).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_search_is_named_with_what_it_needs() {
        let servers = [("finder", false), ("mine", true)];
        let found = |name, url, tool| {
            searches(&raw(name, url, "k", tool), &servers)
                .unwrap()
                .pop()
        };
        let url = |name, url| match found(name, url, "") {
            Some(Search::Service(service)) => service.url.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(found("", "", "").is_none());
        assert!(matches!(found("own", "", ""), Some(Search::Own)));
        assert!(
            matches!(found("mcp", "", "finder__search"), Some(Search::Tool(tool)) if tool == "finder__search")
        );
        assert_eq!(
            url("searxng", "http://127.0.0.1:8888"),
            "http://127.0.0.1:8888/search"
        );
        assert_eq!(
            url("searxng", "https://a.example/sx/"),
            "https://a.example/sx/search"
        );
        assert_eq!(
            url("brave", ""),
            "https://api.search.brave.com/res/v1/web/search"
        );
        for (name, address, tool, words) in [
            ("google", "", "", "searxng, brave, tavily, mcp or own"),
            ("searxng", "", "", "search_url is missing"),
            ("searxng", "file:///etc", "", "must be an address"),
            ("tavily", "", "", "search_key is missing"),
            ("mcp", "", "", "such as finder__search"),
            ("mcp", "", "finder__", "such as finder__search"),
            ("mcp", "", "other__search", "has no “other”"),
            ("mcp", "", "mine__search", "people sign in"),
        ] {
            let error = searches(&raw(name, address, "", tool), &servers)
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn several_searches_stand_in_a_row() {
        let named = |search: &str, url: &str, key: &str| RawWeb {
            brave_key: "b".to_owned(),
            tavily_url: "http://127.0.0.1:7/t".to_owned(),
            ..raw(search, url, key, "")
        };
        let all = |raw: &RawWeb| -> Vec<String> {
            let of = |search: &Search| match search {
                Search::Service(SearchSettings { kind, url, key, .. }) => {
                    format!(
                        "{} {url} {}",
                        kind.name(),
                        key.as_ref().map_or("", |key| key.reveal())
                    )
                }
                other => format!("{other:?}"),
            };
            searches(raw, &[]).unwrap().iter().map(of).collect()
        };
        let usual = "https://api.search.brave.com/res/v1/web/search";
        assert_eq!(
            all(&named(" searxng, own ,brave,", "http://127.0.0.1:8", "")),
            [
                "SearXNG http://127.0.0.1:8/search ",
                "Own",
                &format!("Brave {usual} b")
            ]
        );
        // Shared settings go to the first service, but a URL goes to SearXNG.
        assert_eq!(
            all(&named("tavily,searxng,brave", "http://127.0.0.1:8", "t")),
            [
                "Tavily http://127.0.0.1:7/t t",
                "SearXNG http://127.0.0.1:8/search ",
                &format!("Brave {usual} b")
            ]
        );
        assert_eq!(
            all(&raw("brave", "http://127.0.0.1:9/b", "k", "")),
            ["Brave http://127.0.0.1:9/b k"]
        );
        for (search, words) in [
            ("brave,brave", "“brave” twice"),
            ("brave,tavily", "web.tavily_key is missing"),
            ("own,tavily", "web.search_key is missing"),
            ("brave,bing", "“bing”"),
        ] {
            let error = searches(&named(search, "", ""), &[])
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
