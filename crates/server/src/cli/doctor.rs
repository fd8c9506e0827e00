//! `glasshouse doctor`: checks what a server needs here, and says what to do about what is missing.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use agent::Agents;
use bus::Bus;
use futures_util::future::join_all;
use llm::{
    Secret,
    http::HttpClient,
    openai::{ServerSettings, list_models},
};
use reqwest::{Url, header};
use store::Store;
use tempfile::NamedTempFile;

use crate::{
    cli::health_check,
    documents::Recognition,
    gateway::models::Models,
    platform::{
        clock::Clock,
        clock_skew::{TOLERATED_MS, difference},
        config::{Config, ConfiguredConnection, RunnerAccess},
        live_config::LiveConfig,
        object_storage, secret_key,
    },
    start,
    tools::programs::ProgramsHere,
};

/// How long a server has to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Less free space than this is not enough for long.
const LITTLE_SPACE_BYTES: u64 = 1 << 30;
/// Sign-in providers and cloud services refuse requests of a clock that is this wrong.
const WRONG_CLOCK_MS: i64 = 60_000;

/// The variables that name a proxy, in the order in which they count for HTTPS.
const PROXY_VARIABLES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "HTTP_PROXY",
    "http_proxy",
];

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    Fine,
    /// It works, but something may be wrong or missing.
    Warning,
    Problem,
}

/// The outcome of a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) grade: Grade,
    pub(crate) about: &'static str,
    pub(crate) text: String,
    /// What to do.
    advice: Option<String>,
}

impl Finding {
    fn fine(about: &'static str, text: impl Into<String>) -> Self {
        Self {
            grade: Grade::Fine,
            about,
            text: text.into(),
            advice: None,
        }
    }

    fn warning(about: &'static str, text: impl Into<String>, advice: &str) -> Self {
        Self {
            grade: Grade::Warning,
            advice: Some(advice.to_owned()),
            ..Self::fine(about, text)
        }
    }

    fn problem(about: &'static str, text: impl Into<String>, advice: &str) -> Self {
        Self {
            grade: Grade::Problem,
            ..Self::warning(about, text, advice)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grade = match self.grade {
            Grade::Fine => "ok",
            Grade::Warning => "warning",
            Grade::Problem => "problem",
        };
        write!(f, "{grade:<9}{:<14}{}", self.about, self.text)?;
        match &self.advice {
            Some(advice) => write!(f, "\n{:23}→ {advice}", ""),
            None => Ok(()),
        }
    }
}

/// Checks everything, in an order in which the first problem may be the cause of later ones.
pub(crate) async fn examine(config: &Config) -> Vec<Finding> {
    let mut findings = vec![running(config).await];
    findings.extend(
        config
            .warnings
            .iter()
            .map(|warning| Finding::warning("Configuration", warning, "correct the configuration")),
    );
    findings.extend(data_folder(&config.data_dir));
    let (database, store) = database(config).await;
    findings.push(database);
    findings.extend(object_storage(config).await);
    findings.extend(bus(config).await);
    let (servers, failed) = model_servers(config, store.as_ref()).await;
    findings.extend(failed);
    if let Some(store) = store {
        findings.extend(database_clock(&store).await);
        findings.extend(runners(config, &store).await);
        store.close().await;
    }
    match HttpClient::new() {
        Ok(http) => {
            findings.extend(models(&servers, &http).await);
            findings.extend(clock(&servers, &http).await);
            findings.extend(public_address(config, &http).await);
        }
        Err(error) => findings.push(Finding::problem(
            "Network",
            error.to_string(),
            "install the certificates of your system, such as the package ca-certificates",
        )),
    }
    findings.extend(proxy(of_environment));
    if runner_access(config).is_none() {
        findings.push(sandbox(config).await);
    }
    findings.push(text_recognition(config).await);
    findings
}

async fn running(config: &Config) -> Finding {
    match health_check::ask(&config.listen, config.tls.is_some()).await {
        Ok(()) => Finding::fine("Server", format!("running at {}", addresses(config))),
        Err(_) => Finding::fine(
            "Server",
            format!("not running; it would listen on {}", addresses(config)),
        ),
    }
}

fn addresses(config: &Config) -> String {
    let all: Vec<String> = config.listen.iter().map(ToString::to_string).collect();
    all.join(", ")
}

fn data_folder(folder: &Path) -> Vec<Finding> {
    let about = "Data folder";
    let shown = folder.display();
    if !folder.exists() {
        let text = format!("{shown} does not exist yet: the first start creates it");
        return vec![Finding::fine(about, text)];
    }
    let mut findings = Vec::new();
    // Deleted at once.
    match NamedTempFile::new_in(folder) {
        Ok(_) => findings.push(Finding::fine(about, shown.to_string())),
        Err(error) => findings.push(Finding::problem(
            about,
            format!("cannot write to {shown}: {error}"),
            "let the user that runs Glasshouse write there, or name another folder with --data-dir",
        )),
    }
    findings.extend(free_space(folder).map(space));
    findings
}

fn space(free: u64) -> Finding {
    let text = format!("{:.1} GiB free", free as f64 / (1_u64 << 30) as f64);
    match free < LITTLE_SPACE_BYTES {
        false => Finding::fine("Disk", text),
        true => Finding::warning(
            "Disk",
            text,
            "free some space: without any, nothing can be stored and runs stop",
        ),
    }
}

#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_folder: &Path) -> Option<u64> {
    None
}

/// Opens the database, unless that would create it.
async fn database(config: &Config) -> (Finding, Option<Store>) {
    let about = "Database";
    if let Some(file) = sqlite_file(&config.database_url)
        && !file.exists()
    {
        let text = format!(
            "{} does not exist yet: the first start creates it",
            file.display()
        );
        return (Finding::fine(about, text), None);
    }
    let kind = match config.database_url.starts_with("sqlite") {
        true => "SQLite",
        false => "PostgreSQL",
    };
    let opened = tokio::time::timeout(PATIENCE, Store::open(&config.database_url)).await;
    match opened {
        Ok(Ok(store)) => {
            let way = match store.is_pooled_by_transaction() {
                true => ", through a pooler by transaction",
                false => "",
            };
            let text = format!("{kind} answers{way}");
            (Finding::fine(about, text), Some(store))
        }
        Ok(Err(error)) => (
            Finding::problem(
                about,
                format!("{kind}: {error}"),
                "check database_url; if the file is damaged, restore a backup with `glasshouse restore`",
            ),
            None,
        ),
        Err(_) => (
            Finding::problem(
                about,
                format!("{kind} is silent"),
                "check that the database server runs and that no firewall is in between",
            ),
            None,
        ),
    }
}

/// A warning if the database's clock differs from this machine's.
async fn database_clock(store: &Store) -> Option<Finding> {
    let database_ms = store.database_time().await.ok()??;
    let ahead_ms = Clock::real().now_ms() - database_ms;
    (ahead_ms.abs() > TOLERATED_MS).then(|| {
        Finding::warning(
            "Clock",
            difference(ahead_ms),
            "synchronize the clocks of all machines, for example with an NTP service: schedules depend on them",
        )
    })
}

/// Writes, reads and deletes an object.
async fn object_storage(config: &Config) -> Option<Finding> {
    let about = "Objects";
    let advice = "check the settings object_storage.*; the key must permit to read, write, list and delete objects";
    let blobs = match object_storage::of(config) {
        Ok(blobs) => blobs?,
        Err(error) => return Some(Finding::problem(about, error.to_string(), advice)),
    };
    Some(match blobs.probe().await {
        Ok(()) => Finding::fine(about, format!("{} can be used", blobs.place())),
        Err(problem) => Finding::problem(about, problem.to_string(), advice),
    })
}

/// Whether the bus between servers answers.
async fn bus(config: &Config) -> Option<Finding> {
    let url = config.bus_url.as_ref()?;
    // The key matters only for messages.
    let checked = match Bus::new(url, &[0; bus::KEY_BYTES]) {
        Ok(bus) => bus.check().await,
        Err(error) => Err(error),
    };
    Some(match checked {
        Ok(()) => Finding::fine("Bus", "answers"),
        Err(error) => Finding::problem(
            "Bus",
            error.to_string(),
            "check bus_url and whether Redis or Valkey is running; without it, servers notice later what others do",
        ),
    })
}

fn sqlite_file(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite://")?;
    let path = path.split('?').next().unwrap_or(path);
    Some(PathBuf::from(path))
}

/// The enabled model servers: those of the configuration, and those stored if there is a database.
async fn model_servers(
    config: &Config,
    store: Option<&Store>,
) -> (Vec<ServerSettings>, Option<Finding>) {
    let configured = || {
        let settings = |connection: &ConfiguredConnection| connection.settings.clone();
        config.connections.iter().map(settings).collect()
    };
    let Some(store) = store else {
        return (configured(), None);
    };
    let opened = async {
        let sealer = Arc::new(config.secret_key.open()?);
        secret_key::check(store, &sealer).await?;
        let http = HttpClient::new()?;
        let live = LiveConfig::new(config.clone());
        Models::open(&live, store.clone(), sealer, http, start::tour()).await
    };
    match opened.await {
        Ok(models) => {
            let catalogue = models.catalogue();
            let enabled = catalogue.connections.iter().filter(|it| it.enabled);
            let settings = enabled.map(|it| it.server.settings.clone());
            (settings.collect(), None)
        }
        Err(error) => {
            let advice = "restore secret.key from a backup, or set GLASSHOUSE_SECRET_KEY";
            let finding = Finding::problem("Secret key", format!("{error:#}"), advice);
            (configured(), Some(finding))
        }
    }
}

async fn models(servers: &[ServerSettings], http: &HttpClient) -> Vec<Finding> {
    let about = "Model server";
    if servers.is_empty() {
        return vec![Finding::warning(
            about,
            "none is connected",
            "connect one in the web app, or set OPENAI_API_BASE_URL",
        )];
    }
    let asked = servers.iter().map(async |server| {
        let key: Option<&Secret> = server.keys.first().map(|(key, _)| key);
        let name = match server.name.is_empty() {
            true => server.base_url.to_string(),
            false => format!("{} ({})", server.name, server.base_url),
        };
        match list_models(server, key, http, PATIENCE).await {
            Ok(models) if models.is_empty() => Finding::warning(
                about,
                format!("{name} has no models"),
                "load one on the server, for example with `ollama pull`, or name them in its settings",
            ),
            Ok(models) => {
                let models = match models.len() {
                    1 => "1 model".to_owned(),
                    count => format!("{count} models"),
                };
                Finding::fine(about, format!("{name} has {models}"))
            }
            Err(error) => Finding::problem(
                about,
                format!("{name}: {}", error.words().message),
                "correct the address or the key under Settings → Models and connections, or in the configuration",
            ),
        }
    });
    join_all(asked).await
}

/// Compares the clock with that of the first model server that says what time it is.
async fn clock(servers: &[ServerSettings], http: &HttpClient) -> Option<Finding> {
    for server in servers {
        let Ok(url) = Url::parse(&server.base_url.to_string()) else {
            continue;
        };
        let Some(theirs) = time_at(&url, http).await else {
            continue;
        };
        let ours = Clock::real().now_ms();
        return Some(clock_finding(
            ours - theirs,
            url.host_str().unwrap_or("the server"),
        ));
    }
    None
}

fn clock_finding(ahead_ms: i64, host: &str) -> Finding {
    // Servers say it to the second, and the answer takes a while.
    if ahead_ms.abs() < WRONG_CLOCK_MS {
        return Finding::fine("Clock", format!("agrees with {host}"));
    }
    let seconds = ahead_ms.abs() / 1000;
    let direction = match ahead_ms > 0 {
        true => "ahead of",
        false => "behind",
    };
    Finding::problem(
        "Clock",
        format!("{seconds} s {direction} {host}"),
        "set the clock, for example with an NTP service: sign-ins, cloud keys and schedules depend on it",
    )
}

async fn time_at(url: &Url, http: &HttpClient) -> Option<i64> {
    let client = http.for_url(url).ok()?;
    let answer = client
        .get(url.clone())
        .timeout(PATIENCE)
        .send()
        .await
        .ok()?;
    let date = answer.headers().get(header::DATE)?.to_str().ok()?;
    let time = httpdate::parse_http_date(date).ok()?;
    let since_epoch = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_millis()).ok()
}

/// Whether the address that people type leads here.
async fn public_address(config: &Config, http: &HttpClient) -> Option<Finding> {
    let address = config.public_url.as_ref()?.base();
    let about = "Address";
    let advice = "check the reverse proxy and the name's DNS entry";
    let url = Url::parse(&format!("{address}/healthz")).ok()?;
    let answer = match http.for_url(&url) {
        Ok(client) => client.get(url).timeout(PATIENCE).send().await,
        Err(error) => return Some(Finding::problem(about, error.to_string(), advice)),
    };
    Some(match answer {
        Ok(answer) if answer.status().is_success() => {
            Finding::fine(about, format!("{address} answers"))
        }
        Ok(answer) => Finding::warning(
            about,
            format!("{address} answers with HTTP {}", answer.status().as_u16()),
            "start the server, or check the reverse proxy",
        ),
        Err(error) => {
            let why = error.without_url();
            Finding::warning(about, format!("{address} cannot be reached: {why}"), advice)
        }
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "these variables are for the HTTP client, not for the configuration"
)]
fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The proxy for requests to the internet, if there is one.
fn proxy(variable: impl Fn(&str) -> Option<String>) -> Option<Finding> {
    let set = PROXY_VARIABLES
        .into_iter()
        .find_map(|name| Some((name, variable(name).filter(|value| !value.is_empty())?)));
    let (name, value) = set?;
    let about = "Proxy";
    Some(match Url::parse(&value) {
        // A password in it is not shown.
        Ok(url) => Finding::fine(
            about,
            format!("{name}: {}", url.host_str().unwrap_or_default()),
        ),
        Err(_) => Finding::problem(
            about,
            format!("{name} is no URL"),
            "write it as http://proxy.example.org:3128",
        ),
    })
}

fn runner_access(config: &Config) -> Option<&RunnerAccess> {
    config.programs.as_ref()?.runners.as_ref()
}

/// Whether runners are connected, if programs run there.
async fn runners(config: &Config, store: &Store) -> Option<Finding> {
    let about = "Runners";
    runner_access(config)?;
    let advice = "start one with `glasshouse runner`; see docs/operate/runner.md";
    let rows = match store.runners().await {
        Ok(rows) => rows,
        Err(error) => return Some(Finding::problem(about, error.to_string(), advice)),
    };
    let connected: Vec<String> = rows
        .iter()
        .filter(|row| row.is_connected)
        .map(|row| format!("{} ({} running)", row.name, row.running))
        .collect();
    let waiting = store.waiting_program_calls().await.unwrap_or(0);
    Some(match connected.as_slice() {
        [] => Finding::problem(
            about,
            "no runner is connected, so agents cannot run programs",
            advice,
        ),
        names => Finding::fine(about, format!("{}; {waiting} calls wait", names.join(", "))),
    })
}

async fn sandbox(config: &Config) -> Finding {
    let about = "Sandbox";
    let programs = ProgramsHere::default();
    match Agents::built_in() {
        Ok(agents) => programs.find(config, &agents).await,
        Err(error) => return Finding::problem(about, error.to_string(), "report this"),
    }
    match (programs.here(), programs.why_not()) {
        (Some(programs), _) => Finding::fine(
            about,
            format!("agents can run Python {}", programs.found().python_version),
        ),
        (None, why) => Finding::warning(
            about,
            why.map_or_else(String::new, |why| why.message.clone()),
            "agents work without it, but cannot run programs; see docs/tools/programs.md",
        ),
    }
}

async fn text_recognition(config: &Config) -> Finding {
    let about = "OCR";
    match Recognition::find(config.knowledge.ocr.clone()).await {
        Recognition::Off => Finding::fine(about, "turned off"),
        Recognition::Found(found) => {
            let text = format!(
                "{} reads scanned pages and pictures: {}",
                found.version(),
                found.languages().join(", ")
            );
            match found.detects_script() {
                true => Finding::fine(about, text),
                false => Finding::warning(
                    about,
                    text,
                    "install its data `osd` (Debian: tesseract-ocr-osd), so that the script of a page is detected",
                ),
            }
        }
        Recognition::Missing(why) => Finding::warning(
            about,
            why.to_string(),
            "scanned pages stay unread; install Tesseract with its languages: see docs/knowledge/text-recognition.md",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_say_what_to_do() {
        let fine = Finding::fine("Disk", "9.0 GiB free");
        assert_eq!(fine.to_string(), "ok       Disk          9.0 GiB free");
        let little = space(LITTLE_SPACE_BYTES - 1);
        assert_eq!(little.grade, Grade::Warning);
        let shown = little.to_string();
        assert!(
            shown.starts_with("warning  Disk          1.0 GiB free\n"),
            "{shown}"
        );
        assert!(shown.contains("→ free some space"), "{shown}");
    }

    #[test]
    fn a_wrong_clock_is_noticed() {
        assert_eq!(clock_finding(59_999, "a").grade, Grade::Fine);
        assert_eq!(clock_finding(-59_999, "a").grade, Grade::Fine);
        assert_eq!(clock_finding(60_000, "a").text, "60 s ahead of a");
        assert_eq!(clock_finding(-3_600_000, "a").text, "3600 s behind a");
    }

    #[test]
    fn a_proxy_is_named_without_its_password() {
        let none = proxy(|_| None);
        assert_eq!(none, None);
        let set = |value: &'static str| {
            proxy(move |name| (name == "HTTPS_PROXY").then(|| value.to_owned()))
        };
        let finding = set("http://user:secret@proxy.example.org:3128").unwrap();
        assert_eq!(finding.text, "HTTPS_PROXY: proxy.example.org");
        assert_eq!(set("proxy").map(|it| it.grade), Some(Grade::Problem));
        assert_eq!(set(""), None);
    }

    #[test]
    fn the_file_of_a_database_is_known() {
        let file = |url| sqlite_file(url);
        assert_eq!(file("sqlite:///a/b.db?mode=rwc"), Some("/a/b.db".into()));
        assert_eq!(file("postgres://h/d"), None);
    }
}
