//! Converts genai-prices' `data.json` to a price list: the current token prices of the providers that users connect.

use std::collections::BTreeSet;

use anyhow::Context;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

use super::{Clause, ListFile, ListedModel, ListedProvider, ListedRates, ListedTier};

/// The providers to import. Those that cannot be connected here, or that few users connect, would only make the list
/// longer.
const PROVIDERS: [&str; 38] = [
    "openai",
    "anthropic",
    "google",
    "aws",
    "azure",
    "mistral",
    "groq",
    "x-ai",
    "deepseek",
    "moonshotai",
    "zai",
    "zhipuai",
    "cohere",
    "cerebras",
    "fireworks",
    "together",
    "openrouter",
    "perplexity",
    "minimax",
    "novita",
    "ovhcloud",
    "voyageai",
    "baseten",
    "cloudflare",
    "databricks",
    "meta",
    "github-copilot",
    "huggingface_cerebras",
    "huggingface_fireworks-ai",
    "huggingface_groq",
    "huggingface_hyperbolic",
    "huggingface_nebius",
    "huggingface_novita",
    "huggingface_nscale",
    "huggingface_ovhcloud",
    "huggingface_publicai",
    "huggingface_sambanova",
    "huggingface_together",
];

#[derive(Deserialize)]
struct Provider {
    id: String,
    name: String,
    api_pattern: String,
    #[serde(default)]
    fallback_model_providers: Option<Vec<String>>,
    models: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    #[serde(rename = "match")]
    matches: Match,
    prices: Price,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Match {
    Equals(String),
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    Regex(String),
    Or(Vec<Match>),
    And(Vec<Match>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Price {
    Conditional(Vec<Conditional>),
    Always(Value),
}

#[derive(Deserialize)]
struct Conditional {
    #[serde(default)]
    constraint: Option<Constraint>,
    prices: Value,
}

#[derive(Deserialize)]
struct Constraint {
    /// `None` for a price that applies only at some hours of the day.
    #[serde(default)]
    start_date: Option<String>,
}

/// A price, with tiers for longer prompts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Figure {
    Plain(f64),
    Tiered { base: f64, tiers: Vec<Tier> },
}

#[derive(Deserialize, Clone, Copy)]
struct Tier {
    start: u64,
    price: f64,
}

/// Converts the list as of `today`.
///
/// # Errors
/// If it does not have the format of the list.
pub(super) fn import(providers: Vec<Value>, today: Date) -> anyhow::Result<ListFile> {
    let mut taken = Vec::new();
    for provider in providers {
        if !provider["id"]
            .as_str()
            .is_some_and(|id| PROVIDERS.contains(&id))
        {
            continue;
        }
        let name = provider["id"].as_str().unwrap_or_default().to_owned();
        let provider: Provider = serde_json::from_value(provider)
            .with_context(|| format!("the prices of {name} cannot be read"))?;
        taken.push(listed(provider, today));
    }
    let place = |provider: &ListedProvider| PROVIDERS.iter().position(|id| *id == provider.id);
    taken.sort_by_key(place);
    Ok(ListFile {
        source: "genai-prices".to_owned(),
        url: "https://github.com/pydantic/genai-prices".to_owned(),
        license: "MIT, Copyright (c) Pydantic Services Inc. 2025 to present".to_owned(),
        date: today.to_string(),
        providers: taken,
    })
}

fn listed(provider: Provider, today: Date) -> ListedProvider {
    let model = |model: Model| {
        let (rates, long_context) = prices(model.prices, today)?;
        let matches = match model.matches {
            Match::Or(any) => any.into_iter().map(clause).collect(),
            one => vec![clause(one)],
        };
        Some(ListedModel {
            id: model.id,
            matches,
            rates,
            long_context,
        })
    };
    ListedProvider {
        id: provider.id,
        name: provider.name,
        address: provider.api_pattern,
        fallbacks: provider.fallback_model_providers.unwrap_or_default(),
        models: provider.models.into_iter().filter_map(model).collect(),
    }
}

fn clause(of: Match) -> Clause {
    match of {
        Match::Equals(text) => Clause::one('=', &text.to_lowercase()),
        Match::StartsWith(text) => Clause::one('^', &text.to_lowercase()),
        Match::EndsWith(text) => Clause::one('$', &text.to_lowercase()),
        Match::Contains(text) => Clause::one('*', &text.to_lowercase()),
        // The only lookaround in the list, which the `regex` crate does not support.
        Match::Regex(text) => match text
            .strip_prefix("^(?!")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(unlike) => Clause::one('!', unlike),
            None => Clause::one('~', &text),
        },
        Match::Or(any) => Clause::Any {
            any: any.into_iter().map(clause).collect(),
        },
        Match::And(all) => Clause::All {
            all: all.into_iter().map(clause).collect(),
        },
    }
}

/// The current prices: of several conditional ones the last that applies. Prices for some hours of the day are left
/// out, and so are the discounts at those hours.
fn prices(price: Price, today: Date) -> Option<(ListedRates, Vec<ListedTier>)> {
    let fields = match price {
        Price::Always(fields) => fields,
        Price::Conditional(all) => {
            let now = today.to_string();
            let holds = |price: &Conditional| match &price.constraint {
                None => true,
                // Dates in this format sort lexicographically.
                Some(constraint) => constraint
                    .start_date
                    .as_ref()
                    .is_some_and(|start| *start <= now),
            };
            let last = all.iter().rposition(holds).unwrap_or(0);
            all.into_iter().nth(last)?.prices
        }
    };
    let figure = |name: &str| serde_json::from_value::<Figure>(fields.get(name)?.clone()).ok();
    let rates_of = |above: Option<u64>| {
        let usd = |name: &str| figure(name).map(|figure| figure.above(above));
        ListedRates {
            input: usd("input_mtok"),
            output: usd("output_mtok"),
            cached_input: usd("cache_read_mtok"),
            cache_write: usd("cache_write_mtok"),
            audio_input: usd("input_audio_mtok"),
            audio_output: usd("output_audio_mtok"),
        }
    };
    let starts: BTreeSet<u64> = [
        "input_mtok",
        "output_mtok",
        "cache_read_mtok",
        "cache_write_mtok",
    ]
    .into_iter()
    .filter_map(figure)
    .flat_map(|figure| figure.starts())
    .collect();
    let base = rates_of(None);
    let tier = |above_tokens| ListedTier {
        above_tokens,
        rates: rates_of(Some(above_tokens)),
    };
    let tiers = starts.into_iter().map(tier).collect();
    (base.input.is_some() || base.output.is_some()).then_some((base, tiers))
}

impl Figure {
    /// The price for prompts with more tokens than this.
    fn above(&self, tokens: Option<u64>) -> f64 {
        match self {
            Self::Plain(usd) => *usd,
            Self::Tiered { base, tiers } => {
                let reached = tiers
                    .iter()
                    .filter(|tier| tokens.is_some_and(|tokens| tier.start <= tokens));
                reached
                    .max_by_key(|tier| tier.start)
                    .map_or(*base, |tier| tier.price)
            }
        }
    }

    fn starts(&self) -> Vec<u64> {
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Tiered { tiers, .. } => tiers.iter().map(|tier| tier.start).collect(),
        }
    }
}
