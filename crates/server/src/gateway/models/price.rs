//! The price of a model: an administrator's settings, completed from the price catalogue.

use agent::{Prices, Rates};
use schemars::JsonSchema;
use serde::Serialize;

use super::ModelSettings;
use crate::gateway::prices::ListedPrice;

/// A model's price and its source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelPrice {
    /// US dollars per million input tokens.
    input_usd_per_million: f64,
    /// US dollars per million output tokens.
    output_usd_per_million: f64,
    /// For input read from the provider's cache, if it differs.
    cached_input_usd_per_million: Option<f64>,
    /// For input written to the provider's cache, if it differs.
    cache_write_usd_per_million: Option<f64>,
    /// For audio input, if it differs.
    audio_input_usd_per_million: Option<f64>,
    /// For audio output, if it differs.
    audio_output_usd_per_million: Option<f64>,
    /// Prompts with more tokens than this have other prices; the lowest such threshold.
    long_context_above_tokens: Option<u64>,
    /// The source of the price.
    source: PriceSource,
    /// The entry of the price list, with the list's names for the provider and the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<ListEntry>,
    #[serde(skip)]
    prices: Prices,
}

/// The source of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriceSource {
    /// An administrator, at least in part.
    Settings,
    /// The price catalogue.
    Catalogue,
}

/// An entry of the price catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PriceListEntry")]
pub struct ListEntry {
    source: String,
    /// The date of the list, such as 2026-11-26.
    date: String,
    provider: String,
    model: String,
}

impl ModelPrice {
    /// The price of a model with these settings, which override the listed price. If only one of the input and output
    /// prices is set, the other one defaults to 0 unless it is listed.
    #[must_use]
    pub(crate) fn of(settings: &ModelSettings, listed: Option<ListedPrice>) -> Option<Self> {
        let set = [
            settings.input_usd_per_million,
            settings.output_usd_per_million,
            settings.cached_input_usd_per_million,
            settings.cache_write_usd_per_million,
            settings.audio_input_usd_per_million,
            settings.audio_output_usd_per_million,
        ];
        let is_set = set.iter().any(Option::is_some);
        let sets_a_base = set[..2].iter().any(Option::is_some);
        if !sets_a_base && listed.is_none() {
            return None;
        }
        let list = listed
            .as_ref()
            .map(|listed| listed.prices)
            .unwrap_or_default();
        let [
            input,
            output,
            cached_input,
            cache_write,
            audio_input,
            audio_output,
        ] = set;
        let base = Rates {
            input: input.unwrap_or(list.base.input),
            output: output.unwrap_or(list.base.output),
            cached_input: cached_input.or(list.base.cached_input),
            cache_write: cache_write.or(list.base.cache_write),
            audio_input: audio_input.or(list.base.audio_input),
            audio_output: audio_output.or(list.base.audio_output),
        };
        // A price that an administrator sets applies to prompts of every length.
        let long_context = if is_set { [None; 2] } else { list.long_context };
        let entry = |listed: ListedPrice| {
            let ListedPrice {
                source,
                date,
                provider,
                model,
                ..
            } = listed;
            ListEntry {
                source,
                date,
                provider,
                model,
            }
        };
        Some(Self {
            input_usd_per_million: base.input,
            output_usd_per_million: base.output,
            cached_input_usd_per_million: base.cached_input,
            cache_write_usd_per_million: base.cache_write,
            audio_input_usd_per_million: base.audio_input,
            audio_output_usd_per_million: base.audio_output,
            long_context_above_tokens: long_context[0].map(|long| long.above_tokens),
            source: if is_set {
                PriceSource::Settings
            } else {
                PriceSource::Catalogue
            },
            list: listed.map(entry),
            prices: Prices { base, long_context },
        })
    }

    /// The prices, for calculating costs.
    #[must_use]
    pub fn prices(&self) -> Prices {
        self.prices
    }
}

#[cfg(test)]
mod tests {
    use agent::LongContext;

    use super::*;

    fn listed() -> ListedPrice {
        let rates = Rates {
            input: 3.0,
            output: 15.0,
            cached_input: Some(0.3),
            ..Rates::default()
        };
        let long = Some(LongContext {
            above_tokens: 200_000,
            rates,
        });
        let text = str::to_owned;
        ListedPrice {
            prices: Prices {
                base: rates,
                long_context: [long, None],
            },
            provider: text("Anthropic"),
            model: text("claude"),
            source: text("list"),
            date: text("2026-11-26"),
        }
    }

    #[test]
    fn an_administrator_overrides_the_catalogue() {
        let none = ModelSettings::default();
        assert_eq!(ModelPrice::of(&none, None), None);
        let by_list = ModelPrice::of(&none, Some(listed())).unwrap();
        assert_eq!(
            (by_list.source, by_list.prices()),
            (PriceSource::Catalogue, listed().prices)
        );
        let set = ModelSettings {
            input_usd_per_million: Some(2.0),
            ..none.clone()
        };
        let by_both = ModelPrice::of(&set, Some(listed())).unwrap();
        let rates = by_both.prices().base;
        assert_eq!(
            (rates.input, rates.output, rates.cached_input),
            (2.0, 15.0, Some(0.3))
        );
        assert_eq!(
            (by_both.source, by_both.long_context_above_tokens),
            (PriceSource::Settings, None)
        );
        let alone = ModelPrice::of(&set, None).unwrap().prices();
        assert_eq!(alone, Prices::of(2.0, 0.0));
        // A price for cached input alone does not set the price of input.
        let part = ModelSettings {
            cached_input_usd_per_million: Some(0.1),
            ..none
        };
        assert_eq!(ModelPrice::of(&part, None), None);
        let free = ModelSettings {
            input_usd_per_million: Some(0.0),
            ..ModelSettings::default()
        };
        assert_eq!(
            ModelPrice::of(&free, None).unwrap().prices(),
            Prices::of(0.0, 0.0)
        );
    }
}
