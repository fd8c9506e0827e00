//! Cost of model calls: prices per kind of token, and prices of long prompts.

use domain::Usage;

/// US dollars per million tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Input tokens.
    pub input: f64,
    /// Output tokens, reasoning included.
    pub output: f64,
    /// Input tokens read from the cache; priced as input if unknown.
    pub cached_input: Option<f64>,
    /// Input tokens written to the cache; priced as input if unknown.
    pub cache_write: Option<f64>,
    /// Audio input tokens; priced as input if unknown.
    pub audio_input: Option<f64>,
    /// Audio output tokens; priced as output if unknown.
    pub audio_output: Option<f64>,
}

/// Prices of calls with a long prompt, applied to all tokens of the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongContext {
    /// They apply to prompts with more tokens than this.
    pub above_tokens: u64,
    /// The prices.
    pub rates: Rates,
}

/// A model's prices.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prices {
    /// Prices of calls below the limits of `long_context`.
    pub base: Rates,
    /// Prices of calls with longer prompts, in ascending order.
    pub long_context: [Option<LongContext>; 2],
}

/// Cost of a call in millionths of a US dollar: by the configured price, or else as reported by the provider. `None` if
/// neither is known.
#[must_use]
pub fn call_cost(prices: Option<Prices>, usage: Usage) -> Option<u64> {
    let reported = || {
        usage
            .reported_cost_micro_usd
            .map(|cost| cost.min(Prices::MAX_CALL_MICRO_USD))
    };
    prices
        .map(|prices| prices.cost_micro_usd(usage))
        .or_else(reported)
}

impl Prices {
    /// Upper bound of the cost of a call, millionths of a US dollar.
    const MAX_CALL_MICRO_USD: u64 = 1_000_000_000_000;

    /// A single input and a single output price, in US dollars per million tokens.
    #[must_use]
    pub fn of(input: f64, output: f64) -> Self {
        Self {
            base: Rates {
                input,
                output,
                ..Rates::default()
            },
            ..Self::default()
        }
    }

    /// Cost in millionths of a US dollar (tokens times dollars per million), rounded up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates"
    )]
    #[must_use]
    pub fn cost_micro_usd(self, usage: Usage) -> u64 {
        let cost = self.rates_of(usage.input_tokens).cost(usage);
        // Keeps float errors, such as in 5700.000000000001, from being rounded up.
        let cost = (cost * (1.0 - 1e-12)).ceil();
        (cost as u64).min(Self::MAX_CALL_MICRO_USD)
    }

    fn rates_of(&self, input_tokens: u64) -> Rates {
        let mut long = self.long_context.iter().rev().flatten();
        long.find(|long| input_tokens > long.above_tokens)
            .map_or(self.base, |long| long.rates)
    }
}

impl Rates {
    #[expect(clippy::cast_precision_loss, reason = "no call has so many tokens")]
    fn cost(self, usage: Usage) -> f64 {
        // The parts never exceed the total, regardless of what the server reports.
        let mut input = usage.input_tokens;
        let mut take = |part: u64| {
            let part = part.min(input);
            input -= part;
            part as f64
        };
        let cached = take(usage.cached_tokens);
        let cache_write = take(usage.cache_write_tokens);
        let audio_input = take(usage.audio_tokens.saturating_sub(usage.audio_output_tokens));
        let audio_output = usage.audio_output_tokens.min(usage.output_tokens);
        input as f64 * self.input
            + cached * self.cached_input.unwrap_or(self.input)
            + cache_write * self.cache_write.unwrap_or(self.input)
            + audio_input * self.audio_input.unwrap_or(self.input)
            + (usage.output_tokens - audio_output) as f64 * self.output
            + audio_output as f64 * self.audio_output.unwrap_or(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: Rates = Rates {
        input: 3.0,
        output: 15.0,
        cached_input: Some(0.3),
        cache_write: Some(3.75),
        audio_input: None,
        audio_output: None,
    };

    fn check(rates: Rates, usage: Usage, expected: u64) {
        let prices = Prices {
            base: rates,
            ..Prices::default()
        };
        assert_eq!(prices.cost_micro_usd(usage), expected, "{usage:?}");
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let of = |cached_tokens, cache_write_tokens, output| Usage {
            cached_tokens,
            cache_write_tokens,
            ..Usage::of(10_000, output)
        };
        check(CLAUDE, of(0, 0, 0), 30_000);
        check(CLAUDE, of(9_000, 0, 0), 5_700);
        check(CLAUDE, of(9_000, 1_000, 0), 6_450);
        check(CLAUDE, of(9_000, 0, 100), 7_200);
        check(
            CLAUDE,
            Usage {
                reasoning_tokens: 90,
                ..Usage::of(0, 100)
            },
            1_500,
        );
        let unknown = Rates {
            cached_input: None,
            cache_write: None,
            ..CLAUDE
        };
        check(unknown, of(9_000, 1_000, 0), 30_000);
        // Parts that are larger than the total.
        check(CLAUDE, of(20_000, 20_000, 0), 3_000);
    }

    #[test]
    fn sound_has_its_price() {
        let rates = Rates {
            audio_input: Some(40.0),
            audio_output: Some(80.0),
            ..CLAUDE
        };
        let usage = Usage {
            audio_tokens: 70,
            audio_output_tokens: 50,
            ..Usage::of(100, 60)
        };
        check(rates, usage, 80 * 3 + 20 * 40 + 10 * 15 + 50 * 80);
        check(CLAUDE, usage, 100 * 3 + 60 * 15);
    }

    #[test]
    fn long_prompts_have_theirs() {
        let long = |above_tokens, input| {
            Some(LongContext {
                above_tokens,
                rates: Rates {
                    input,
                    ..Rates::default()
                },
            })
        };
        let prices = Prices {
            long_context: [long(200_000, 6.0), long(400_000, 9.0)],
            ..Prices::of(3.0, 15.0)
        };
        for (tokens, cost) in [
            (200_000, 600_000),
            (200_001, 1_200_006),
            (400_000, 2_400_000),
            (400_001, 3_600_009),
        ] {
            assert_eq!(
                prices.cost_micro_usd(Usage::of(tokens, 0)),
                cost,
                "{tokens}"
            );
        }
    }

    #[test]
    fn the_providers_cost_counts_if_no_price_is_known() {
        let usage = Usage {
            reported_cost_micro_usd: Some(7),
            ..Usage::of(1_000, 0)
        };
        assert_eq!(call_cost(Some(Prices::of(1.0, 0.0)), usage), Some(1_000));
        assert_eq!(call_cost(None, usage), Some(7));
        assert_eq!(call_cost(None, Usage::of(1_000, 0)), None);
        let absurd = Usage {
            reported_cost_micro_usd: Some(u64::MAX),
            ..usage
        };
        assert_eq!(call_cost(None, absurd), Some(Prices::MAX_CALL_MICRO_USD));
    }

    #[test]
    fn a_started_millionth_counts() {
        assert_eq!(Prices::of(0.1, 0.0).cost_micro_usd(Usage::of(1, 0)), 1);
        assert_eq!(Prices::of(0.1, 0.0).cost_micro_usd(Usage::of(30, 0)), 3);
        assert_eq!(Prices::of(0.0, 0.0).cost_micro_usd(Usage::of(30, 9)), 0);
    }
}
