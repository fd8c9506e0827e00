//! The capabilities of OpenAI's models, derived from their names. Azure deployments and models of others may have any
//! name: their limits are learned from refusals.

use crate::{Effort, Reasoning};

/// Budgets up to this many tokens are low effort.
const LOW_BUDGET_TOKENS: u64 = 4096;
/// Budgets up to this many tokens are medium effort.
const MEDIUM_BUDGET_TOKENS: u64 = 16_384;

/// The effort nearest to a reasoning budget.
#[must_use]
pub fn budget_effort(tokens: u64) -> Effort {
    match tokens {
        0..=LOW_BUDGET_TOKENS => Effort::Low,
        _ if tokens <= MEDIUM_BUDGET_TOKENS => Effort::Medium,
        _ => Effort::High,
    }
}

/// Models that accept the same parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelFamily {
    /// Does not reason: GPT-4.1, GPT-4o, GPT-3.5, GPT-5 Chat.
    Plain,
    /// o1, o3, o4 and GPT-5 Codex: `low` to `high`.
    Fixed,
    /// GPT-5 of August 2025: `minimal` to `high`.
    Gpt5,
    /// GPT-5 Pro: `high` only.
    Pro,
    /// GPT-5.1 and later: `none` to `high`.
    Gpt51,
    /// GPT-5.2 and later: `none` to `xhigh`.
    Gpt52,
    /// The name tells nothing.
    Unknown,
}

impl ModelFamily {
    pub(crate) fn of(model: &str) -> Self {
        // OpenRouter and LiteLLM: `openai/gpt-5`; fine-tuned: `ft:gpt-4.1:…`.
        let name = model
            .rsplit('/')
            .next()
            .unwrap_or(model)
            .to_ascii_lowercase();
        let name = name.strip_prefix("ft:").unwrap_or(&name);
        if name.starts_with("gpt-5-chat")
            || ["gpt-4", "gpt-3", "chatgpt"]
                .iter()
                .any(|it| name.starts_with(it))
        {
            return Self::Plain;
        }
        let is_o = name
            .strip_prefix('o')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if is_o || name.starts_with("codex-") || name.starts_with("computer-use") {
            return Self::Fixed;
        }
        let Some(version) = name.strip_prefix("gpt-").and_then(version) else {
            return Self::Unknown;
        };
        let is_pro = name.contains("-pro");
        let is_codex = name.contains("-codex");
        match version {
            (5, 0) if is_pro => Self::Pro,
            (5, 0 | 1) if is_codex && !name.contains("-max") => Self::Fixed,
            (5, 0) => Self::Gpt5,
            (5, 1) if !is_codex => Self::Gpt51,
            (5.., _) => Self::Gpt52,
            _ => Self::Unknown,
        }
    }

    /// Whether reasoning can be set.
    pub(crate) fn reasons(self) -> bool {
        self != Self::Plain
    }

    /// The value of `reasoning.effort`; `None` leaves it to the model.
    pub(crate) fn effort(self, wanted: Reasoning) -> Option<&'static str> {
        let wanted = match wanted {
            Reasoning::On => return None,
            Reasoning::Off => return self.min(),
            Reasoning::Effort(effort) => effort,
            Reasoning::Budget(tokens) => budget_effort(tokens),
        };
        match (self, wanted) {
            (Self::Plain, _) => None,
            (Self::Pro, _) => Some("high"),
            (Self::Gpt5, Effort::Minimal) => Some("minimal"),
            (_, Effort::Minimal | Effort::Low) => Some("low"),
            (_, Effort::Medium) => Some("medium"),
            (Self::Gpt52, Effort::XHigh) => Some("xhigh"),
            (_, Effort::High | Effort::XHigh) => Some("high"),
        }
    }

    /// The lowest level of reasoning.
    fn min(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Pro => None,
            Self::Fixed => Some("low"),
            Self::Gpt5 => Some("minimal"),
            Self::Gpt51 | Self::Gpt52 | Self::Unknown => Some("none"),
        }
    }

    /// Whether it accepts `temperature` and `top_p` with this effort.
    pub(crate) fn takes_sampling(self, effort: Option<&str>) -> bool {
        match self {
            Self::Plain | Self::Unknown => true,
            Self::Fixed | Self::Gpt5 | Self::Pro => false,
            Self::Gpt51 | Self::Gpt52 => effort == Some("none"),
        }
    }
}

/// `5.2-codex` as 5 and 2.
fn version(name: &str) -> Option<(u32, u32)> {
    let number = name
        .split(|c: char| c != '.' && !c.is_ascii_digit())
        .next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_by_name() {
        let check = |names: &[&str], family: ModelFamily| {
            names
                .iter()
                .for_each(|name| assert_eq!(ModelFamily::of(name), family, "{name}"));
        };
        check(
            &[
                "gpt-4o",
                "gpt-4.1-nano-2025-04-14",
                "ft:gpt-4.1:acme",
                "gpt-5-chat-latest",
            ],
            ModelFamily::Plain,
        );
        check(
            &[
                "o3",
                "o4-mini",
                "o1-2024-12-17",
                "gpt-5-codex",
                "gpt-5.1-codex-mini",
            ],
            ModelFamily::Fixed,
        );
        check(
            &[
                "gpt-5",
                "gpt-5-mini-2025-08-07",
                "openai/gpt-5-nano",
                "GPT-5",
            ],
            ModelFamily::Gpt5,
        );
        check(&["gpt-5-pro"], ModelFamily::Pro);
        check(&["gpt-5.1", "gpt-5.1-2025-11-13"], ModelFamily::Gpt51);
        check(
            &[
                "gpt-5.2",
                "openai/gpt-5.6-sol",
                "gpt-5.2-codex",
                "gpt-5.1-codex-max",
                "gpt-6",
            ],
            ModelFamily::Gpt52,
        );
        check(
            &[
                "deepseek-v4-flash",
                "my-deployment",
                "gpt-oss-120b",
                "",
                "omni",
            ],
            ModelFamily::Unknown,
        );
    }

    #[test]
    fn efforts() {
        let effort = |model: &str, wanted| ModelFamily::of(model).effort(wanted);
        // As recorded: minimal becomes low if there is no such level.
        assert_eq!(
            effort("gpt-5.6-sol", Reasoning::Effort(Effort::Minimal)),
            Some("low")
        );
        assert_eq!(
            effort("gpt-5", Reasoning::Effort(Effort::Minimal)),
            Some("minimal")
        );
        assert_eq!(
            effort("gpt-5.2", Reasoning::Effort(Effort::XHigh)),
            Some("xhigh")
        );
        assert_eq!(effort("o3", Reasoning::Effort(Effort::XHigh)), Some("high"));
        assert_eq!(
            effort("gpt-5-pro", Reasoning::Effort(Effort::Low)),
            Some("high")
        );
        assert_eq!(effort("gpt-4o", Reasoning::Effort(Effort::Low)), None);
        assert_eq!(effort("o3", Reasoning::On), None);
        for (model, min) in [
            ("gpt-5.1", Some("none")),
            ("gpt-5", Some("minimal")),
            ("o3", Some("low")),
            ("gpt-4o", None),
        ] {
            assert_eq!(effort(model, Reasoning::Off), min, "{model}");
        }
        for (budget, level) in [(1024, "low"), (10_000, "medium"), (32_000, "high")] {
            assert_eq!(
                effort("o3", Reasoning::Budget(budget)),
                Some(level),
                "{budget}"
            );
        }
    }
}
