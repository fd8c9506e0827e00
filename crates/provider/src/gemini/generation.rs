//! Derives the Gemini generation from a model's name, and maps reasoning to its parameters.

use serde::Serialize;

use crate::{Effort, Reasoning};

/// Limits of `thinkingBudget`, in tokens.
const MAX_BUDGET_PRO: u64 = 32_768;
const MAX_BUDGET_FLASH: u64 = 24_576;
const MIN_BUDGET_PRO: u64 = 128;
const MIN_BUDGET_LITE: u64 = 512;

/// The properties of a model, derived from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Generation {
    /// Such as (2, 5). Names without one, such as `gemini-flash-latest`, mean the latest; `None` is another family.
    version: Option<(u32, u32)>,
    size: Size,
    thinks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Pro,
    Flash,
    Lite,
}

/// `thinkingConfig`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<Level>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum Level {
    Minimal,
    Low,
    Medium,
    High,
}

impl Generation {
    pub(super) fn of(model: &str) -> Self {
        let name = model
            .rsplit('/')
            .next()
            .unwrap_or(model)
            .to_ascii_lowercase();
        let version = name
            .split_once("gemini-")
            .map(|(_, rest)| version(rest).unwrap_or((u32::MAX, 0)));
        let size = match () {
            () if name.contains("lite") => Size::Lite,
            () if name.contains("flash") => Size::Flash,
            () => Size::Pro,
        };
        let is_medium = ["-image", "-tts", "-audio", "-embedding"]
            .iter()
            .any(|kind| name.contains(kind));
        Self {
            version,
            size,
            thinks: version >= Some((2, 5)) && !is_medium,
        }
    }

    /// Whether it refuses calls of the current turn without a signature, accepts media within function responses, and
    /// answers in JSON with tools offered.
    pub(super) fn is_third(self) -> bool {
        self.version >= Some((3, 0))
    }

    /// The parameter for the requested reasoning; `None` if the model has none, or nothing was requested.
    pub(super) fn thinking(self, reasoning: Option<Reasoning>) -> Option<ThinkingConfig> {
        let reasoning = reasoning.filter(|_| self.thinks)?;
        let include_thoughts = !matches!(reasoning, Reasoning::Off | Reasoning::Budget(0));
        let (thinking_budget, thinking_level) = match self.is_third() {
            true => (None, self.level(reasoning)),
            false => (Some(self.budget(reasoning)), None),
        };
        Some(ThinkingConfig {
            include_thoughts,
            thinking_budget,
            thinking_level,
        })
    }

    /// `None` leaves it to the model.
    fn level(self, reasoning: Reasoning) -> Option<Level> {
        let wanted = match reasoning {
            Reasoning::On => return None,
            Reasoning::Off | Reasoning::Budget(0) | Reasoning::Effort(Effort::Minimal) => {
                Level::Minimal
            }
            Reasoning::Budget(tokens) if tokens <= 2048 => Level::Low,
            Reasoning::Budget(tokens) if tokens <= 8192 => Level::Medium,
            Reasoning::Effort(Effort::Low) => Level::Low,
            Reasoning::Effort(Effort::Medium) => Level::Medium,
            Reasoning::Effort(Effort::High | Effort::XHigh) | Reasoning::Budget(_) => Level::High,
        };
        // No model can disable thinking; the first one has only two levels.
        let min = match self.size {
            Size::Lite => Level::Minimal,
            Size::Flash if self.version <= Some((3, 6)) => Level::Minimal,
            Size::Flash | Size::Pro => Level::Low,
        };
        let has_medium = self.size != Size::Pro || self.version > Some((3, 0));
        let wanted = if wanted == Level::Medium && !has_medium {
            Level::High
        } else {
            wanted
        };
        Some(wanted.max(min))
    }

    /// In tokens; -1 leaves it to the model.
    fn budget(self, reasoning: Reasoning) -> i64 {
        let (min, max) = match self.size {
            Size::Pro => (MIN_BUDGET_PRO, MAX_BUDGET_PRO),
            Size::Flash => (1, MAX_BUDGET_FLASH),
            Size::Lite => (MIN_BUDGET_LITE, MAX_BUDGET_FLASH),
        };
        let tokens = match reasoning {
            Reasoning::On => return -1,
            // The large one cannot disable it.
            Reasoning::Off | Reasoning::Budget(0) if self.size != Size::Pro => return 0,
            Reasoning::Off => min,
            Reasoning::Budget(tokens) => tokens,
            Reasoning::Effort(Effort::Minimal) => 512,
            Reasoning::Effort(Effort::Low) => 1024,
            Reasoning::Effort(Effort::Medium) => 8192,
            Reasoning::Effort(Effort::High) => MAX_BUDGET_FLASH,
            Reasoning::Effort(Effort::XHigh) => max,
        };
        tokens.clamp(min, max).cast_signed()
    }
}

/// The version at the beginning of `2.5-flash`, `3-pro-preview`.
fn version(text: &str) -> Option<(u32, u32)> {
    let number = text.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(model: &str, reasoning: Reasoning, expected: Value) {
        let thinking = Generation::of(model).thinking(Some(reasoning));
        assert_eq!(
            serde_json::to_value(thinking).unwrap(),
            expected,
            "{model} {reasoning:?}"
        );
    }

    #[test]
    fn generation_2_5_has_a_budget() {
        for model in [
            "gemini-2.5-flash",
            "models/gemini-2.5-flash",
            "gemini-2.5-flash-preview-09-2025",
        ] {
            check(model, Reasoning::Off, json!({"thinkingBudget": 0}));
            check(
                model,
                Reasoning::On,
                json!({"includeThoughts": true, "thinkingBudget": -1}),
            );
            check(
                model,
                Reasoning::Budget(100_000),
                json!({"includeThoughts": true, "thinkingBudget": 24_576}),
            );
            let medium = json!({"includeThoughts": true, "thinkingBudget": 8192});
            check(model, Reasoning::Effort(Effort::Medium), medium);
        }
        let lite = "gemini-2.5-flash-lite";
        check(
            lite,
            Reasoning::Budget(7),
            json!({"includeThoughts": true, "thinkingBudget": 512}),
        );
        check(lite, Reasoning::Budget(0), json!({"thinkingBudget": 0}));
        let pro = "gemini-2.5-pro-preview-03-25";
        check(pro, Reasoning::Off, json!({"thinkingBudget": 128}));
        check(pro, Reasoning::Budget(0), json!({"thinkingBudget": 128}));
        check(
            pro,
            Reasoning::Effort(Effort::XHigh),
            json!({"includeThoughts": true, "thinkingBudget": 32_768}),
        );
    }

    #[test]
    fn generation_3_has_levels() {
        let level = |level: &str| json!({"includeThoughts": true, "thinkingLevel": level});
        let pro = "gemini-3-pro-preview";
        check(pro, Reasoning::On, json!({"includeThoughts": true}));
        check(pro, Reasoning::Off, json!({"thinkingLevel": "LOW"}));
        check(pro, Reasoning::Effort(Effort::Medium), level("HIGH"));
        check(
            "gemini-3.1-pro-preview",
            Reasoning::Effort(Effort::Medium),
            level("MEDIUM"),
        );
        check(
            "google/gemini-3-flash-preview",
            Reasoning::Off,
            json!({"thinkingLevel": "MINIMAL"}),
        );
        check(
            "gemini-3.5-flash",
            Reasoning::Effort(Effort::Minimal),
            level("MINIMAL"),
        );
        check(
            "gemini-3.8-flash",
            Reasoning::Effort(Effort::Minimal),
            level("LOW"),
        );
        check("gemini-flash-latest", Reasoning::Budget(1000), level("LOW"));
        check(
            "gemini-3.1-flash-lite",
            Reasoning::Budget(5000),
            level("MEDIUM"),
        );
        check(
            "gemini-3.1-flash-lite",
            Reasoning::Effort(Effort::XHigh),
            level("HIGH"),
        );
    }

    #[test]
    fn models_without_thinking_get_no_setting() {
        for model in [
            "gemini-2.0-flash",
            "gemini-1.5-pro",
            "gemma-3-27b-it",
            "gemini-2.5-flash-image",
            "mine",
        ] {
            check(model, Reasoning::On, Value::Null);
            assert!(!Generation::of(model).is_third(), "{model}");
        }
        assert_eq!(Generation::of("gemini-3-pro").thinking(None), None);
    }
}
