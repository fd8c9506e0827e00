//! The price catalogue: model prices from a public list, either built in or installed by `glasshouse prices update`.

mod clause;
mod import;
mod update;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::SystemTime,
};

use agent::{LongContext, Prices, Rates};
use anyhow::Context;
use clause::Clause;
use llm::{ProviderKind, openai::ServerSettings};
use regex::Regex;
use serde::{Deserialize, Serialize};
pub(crate) use update::{show, update};

/// The built-in list.
const BUILT_IN: &str = include_str!("prices/prices.json");
/// A newer list, in the data directory.
const FILE: &str = "prices.json";
/// Above any provider's price for a million tokens, in US dollars.
pub(crate) const MAX_USD_PER_MILLION: f64 = 1e6;

/// A price list in its file format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ListFile {
    /// The source of the prices.
    source: String,
    url: String,
    license: String,
    /// The date of the list, such as 2026-11-26.
    date: String,
    providers: Vec<ListedProvider>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ListedProvider {
    id: String,
    name: String,
    /// A regular expression for the beginning of its address.
    address: String,
    /// Providers whose models it serves at their prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fallbacks: Vec<String>,
    models: Vec<ListedModel>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ListedModel {
    id: String,
    /// The names of the model: any of these clauses may match.
    #[serde(rename = "match")]
    matches: Vec<Clause>,
    #[serde(flatten)]
    rates: ListedRates,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    long_context: Vec<ListedTier>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct ListedRates {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_input: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audio_input: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audio_output: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct ListedTier {
    above_tokens: u64,
    #[serde(flatten)]
    rates: ListedRates,
}

/// A parsed list, ready for lookups.
#[derive(Debug)]
pub(crate) struct PriceList {
    file: ListFile,
    /// The compiled address patterns of the providers, in the same order.
    addresses: Vec<Regex>,
}

/// The price of a model according to the list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedPrice {
    pub(crate) prices: Prices,
    /// The provider's display name.
    pub(crate) provider: String,
    /// The list's name for the model.
    pub(crate) model: String,
    /// The source of the list's prices.
    pub(crate) source: String,
    /// The date of the list.
    pub(crate) date: String,
}

/// The current list, loaded on the first lookup.
#[derive(Debug, Clone)]
pub struct PriceCatalogue {
    data_dir: PathBuf,
    in_use: Arc<RwLock<Option<ListInUse>>>,
}

#[derive(Debug)]
struct ListInUse {
    list: PriceList,
    /// The modification time of the file in the data directory, if it exists.
    written: Option<SystemTime>,
}

impl PriceCatalogue {
    /// Uses the list in this data directory, if it exists and is newer than the built-in one.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
            in_use: Arc::default(),
        }
    }

    /// The price of a model on this server; `None` if unknown. Models of local servers have no price, which does not
    /// mean that they are free.
    pub(crate) fn find(&self, server: &ServerSettings, model: &str) -> Option<ListedPrice> {
        if is_local(server.base_url.host()?) {
            return None;
        }
        let find = |list: &PriceList| list.find(server.kind, &server.base_url.to_string(), model);
        if let Some(ListInUse { list, .. }) =
            &*self.in_use.read().unwrap_or_else(PoisonError::into_inner)
        {
            return find(list);
        }
        let mut in_use = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        // The time is read first, so that a file that is written in between is read again.
        let read = || ListInUse {
            written: self.written(),
            list: PriceList::of(&self.data_dir),
        };
        find(&in_use.get_or_insert_with(read).list)
    }

    /// Drops the list if `glasshouse prices update` has replaced it since it was read; the next lookup loads the new
    /// one. Returns whether it was dropped.
    pub(crate) fn drop_if_renewed(&self) -> bool {
        let written = self.written();
        let mut in_use = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        in_use.take_if(|known| known.written != written).is_some()
    }

    fn written(&self) -> Option<SystemTime> {
        std::fs::metadata(self.data_dir.join(FILE))
            .and_then(|file| file.modified())
            .ok()
    }
}

/// Whether a host is this machine or in a private network. Names without a dot belong to a local network.
fn is_local(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        Ok(std::net::IpAddr::V6(v6)) => {
            v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()
        }
        Err(_) => {
            let is_private = |end: &str| host.ends_with(end);
            !host.contains('.')
                || [".local", ".lan", ".internal", ".localhost", ".home.arpa"]
                    .into_iter()
                    .any(is_private)
        }
    }
}

impl PriceList {
    /// The newer of the built-in list and the one in the data directory.
    fn of(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE);
        let found = match std::fs::read_to_string(&path) {
            Ok(json) => Self::parse(&json).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        };
        let built_in = Self::built_in();
        match found {
            Ok(Some(list)) if list.file.date >= built_in.file.date => list,
            Ok(_) => built_in,
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "unreadable price list; using the built-in one");
                built_in
            }
        }
    }

    fn built_in() -> Self {
        Self::parse(BUILT_IN).unwrap_or_else(|error| {
            // Cannot fail: a test parses the built-in list.
            tracing::error!(%error, "failed to parse the built-in price list");
            Self::empty()
        })
    }

    fn empty() -> Self {
        let text = String::new;
        let file = ListFile {
            source: text(),
            url: text(),
            license: text(),
            date: text(),
            providers: Vec::new(),
        };
        Self {
            file,
            addresses: Vec::new(),
        }
    }

    /// Parses a list in this format.
    fn parse(json: &str) -> anyhow::Result<Self> {
        Self::check(serde_json::from_str(json).context("it is not a price list")?)
    }

    /// Rejects implausible prices.
    fn check(file: ListFile) -> anyhow::Result<Self> {
        file.date
            .parse::<jiff::civil::Date>()
            .with_context(|| format!("`{}` is not a date", file.date))?;
        anyhow::ensure!(
            file.providers
                .iter()
                .any(|provider| !provider.models.is_empty()),
            "it has no prices"
        );
        for provider in &file.providers {
            for model in &provider.models {
                let tiers = model.long_context.iter().map(|tier| tier.rates);
                for rates in std::iter::once(model.rates).chain(tiers) {
                    let ListedRates {
                        input,
                        output,
                        cached_input,
                        cache_write,
                        audio_input,
                        audio_output,
                    } = rates;
                    let all = [
                        input,
                        output,
                        cached_input,
                        cache_write,
                        audio_input,
                        audio_output,
                    ];
                    let bad = all
                        .into_iter()
                        .flatten()
                        .find(|usd| !(0.0..=MAX_USD_PER_MILLION).contains(usd));
                    if let Some(usd) = bad {
                        anyhow::bail!(
                            "{}/{} is said to cost {usd} USD per million tokens",
                            provider.id,
                            model.id
                        );
                    }
                }
            }
        }
        let address = |provider: &ListedProvider| {
            Regex::new(&format!("^(?:{})", provider.address))
                .with_context(|| format!("the address of {} cannot be read", provider.id))
        };
        let addresses = file
            .providers
            .iter()
            .map(address)
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { file, addresses })
    }

    fn find(&self, kind: ProviderKind, address: &str, model: &str) -> Option<ListedPrice> {
        let model = model.to_lowercase();
        // Google's model list has this prefix in front of every name.
        let name = model.strip_prefix("models/").unwrap_or(&model);
        let (provider, name) = self.provider(kind, address, name)?;
        let listed = self
            .model(provider, name)
            .or_else(|| self.model(provider, &dashed_date(name)?))?;
        Some(ListedPrice {
            prices: listed.prices(),
            provider: provider.name.clone(),
            model: listed.id.clone(),
            source: self.file.source.clone(),
            date: self.file.date.clone(),
        })
    }

    /// The provider at an address, or else the only provider of this kind; and the model's name there.
    fn provider<'a>(
        &self,
        kind: ProviderKind,
        address: &str,
        model: &'a str,
    ) -> Option<(&ListedProvider, &'a str)> {
        // Hugging Face's router takes the provider as a suffix of the model's name, if the user chooses one.
        if address.starts_with("https://router.huggingface.co/v1") {
            let (model, provider) = model.rsplit_once(':')?;
            return Some((
                self.provider_of_id(&format!("huggingface_{provider}"))?,
                model,
            ));
        }
        let at = self
            .addresses
            .iter()
            .position(|known| known.is_match(address));
        let by_address = at.and_then(|at| self.file.providers.get(at));
        let by_kind = || match kind {
            ProviderKind::Bedrock => self.provider_of_id("aws"),
            ProviderKind::Azure => self.provider_of_id("azure"),
            ProviderKind::Gemini | ProviderKind::Vertex => self.provider_of_id("google"),
            // Other providers serve these formats too, at prices of their own.
            ProviderKind::Openai | ProviderKind::OpenaiResponses | ProviderKind::Anthropic => None,
        };
        Some((by_address.or_else(by_kind)?, model))
    }

    fn provider_of_id(&self, id: &str) -> Option<&ListedProvider> {
        self.file
            .providers
            .iter()
            .find(|provider| provider.id == id)
    }

    /// The provider's own model, or that of a provider whose models it serves.
    fn model(&self, provider: &ListedProvider, name: &str) -> Option<&ListedModel> {
        let in_list = |id: &str| {
            let provider = self.provider_of_id(id)?;
            provider.models.iter().find(|model| model.is_called(name))
        };
        in_list(&provider.id).or_else(|| provider.fallbacks.iter().find_map(|id| in_list(id)))
    }
}

impl ListedModel {
    fn is_called(&self, name: &str) -> bool {
        self.matches.iter().any(|clause| clause.matches(name))
    }

    fn prices(&self) -> Prices {
        let tier = |at: usize| {
            let ListedTier {
                above_tokens,
                rates,
            } = self.long_context.get(at)?;
            Some(LongContext {
                above_tokens: *above_tokens,
                rates: rates.rates(),
            })
        };
        Prices {
            base: self.rates.rates(),
            long_context: [tier(0), tier(1)],
        }
    }
}

impl ListedRates {
    fn rates(self) -> Rates {
        let Self {
            input,
            output,
            cached_input,
            cache_write,
            audio_input,
            audio_output,
        } = self;
        let input = input.unwrap_or(0.0);
        let output = output.unwrap_or(0.0);
        Rates {
            input,
            output,
            cached_input,
            cache_write,
            audio_input,
            audio_output,
        }
    }
}

/// `gpt-5.2-20251211` as `gpt-5.2-2025-12-11`.
fn dashed_date(name: &str) -> Option<String> {
    let (start, date) = name.rsplit_once('-')?;
    let is_date =
        date.len() == 8 && date.starts_with("20") && date.bytes().all(|byte| byte.is_ascii_digit());
    is_date.then(|| format!("{start}-{}-{}-{}", &date[..4], &date[4..6], &date[6..]))
}

#[cfg(test)]
mod tests;
