//! Size of a model's context, estimated in tokens and corrected by the server's counts.

use domain::{Message, Part};
use llm::ToolSpec;

use crate::run::ModelSettings;

/// The estimate is seldom further off; a server that does not count cached tokens is.
const FACTORS: (f64, f64) = (0.8, 3.0);

/// Longer `data:` URLs count as this many bytes.
const MAX_URL_BYTES: usize = 20_000_000;

/// Estimates tokens: one per four bytes, a thousand per picture, and a few for the frame.
pub(crate) fn estimate_tokens(message: &Message) -> u64 {
    let content: usize = message
        .content
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.len() / 4,
            Part::Image { .. } => 1_000,
            // About thirty tokens per second of sound at the bit rates usual for speech, and more for video.
            Part::Audio { url } => url.len().min(MAX_URL_BYTES) / 1_000,
            Part::Video { url } => 1_000 + url.len().min(MAX_URL_BYTES) / 1_000,
            // For text a quarter of the bytes, and for a typical PDF file about 2,000 tokens per page.
            Part::File {
                url, media_type, ..
            } => {
                let bytes = url.len().min(MAX_URL_BYTES) / 4 * 3;
                if media_type.starts_with("text/") {
                    bytes / 4
                } else {
                    1_000 + bytes / 50
                }
            }
            // Nothing until it is described in words for the model.
            Part::Document { .. } | Part::Collection { .. } => 0,
        })
        .sum();
    let calls: usize = message
        .tool_calls
        .iter()
        .map(|call| (call.name.len() + call.arguments.len()) / 4 + 8)
        .sum();
    (content + calls + 4) as u64
}

/// Estimates the tokens of a whole request.
pub(crate) fn estimate_request(messages: &[Message], tools: &[ToolSpec]) -> u64 {
    let tools = tools.iter().map(|tool| {
        let parameters = tool.parameters.json().get().len();
        ((tool.name.len() + tool.description.len() + parameters) / 4 + 8) as u64
    });
    messages.iter().map(estimate_tokens).sum::<u64>() + tools.sum::<u64>()
}

/// The size measurements of one agent's context.
#[derive(Debug, Clone)]
pub(crate) struct Gauge {
    /// The model's window, if known.
    window: Option<u64>,
    /// The share of it that may be filled.
    share: f64,
    /// Estimated size of the parts of each request other than messages.
    tools: u64,
    /// The ratio of the server's token count to the estimate.
    factor: f64,
}

impl Gauge {
    /// For a model with these settings. Older messages are summarized when `share` of its window is filled.
    pub(crate) fn new(settings: &ModelSettings, share: f64, tools: &[ToolSpec]) -> Self {
        let tools = estimate_request(&[], tools);
        Self {
            window: settings.context_tokens,
            share,
            tools,
            factor: 1.0,
        }
    }

    /// Calibrates with the server's count for a request of this estimated size.
    pub(crate) fn learn(&mut self, estimated: u64, counted: u64) {
        if estimated > 0 && counted > 0 {
            self.factor = (float(counted) / float(estimated)).clamp(FACTORS.0, FACTORS.1);
        }
    }

    /// Calibrates after a request was rejected as too long.
    pub(crate) fn was_refused(&mut self, messages: &[Message]) {
        let size = self.request(messages);
        self.window = Some(self.window.map_or(size, |window| window.min(size)));
    }

    /// The maximum size of a request; `None` if the window is not known.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.window.map(|window| whole(float(window) * self.share))
    }

    /// The size of a request with these messages.
    pub(crate) fn request(&self, messages: &[Message]) -> u64 {
        whole(float(self.tools + messages.iter().map(estimate_tokens).sum::<u64>()) * self.factor)
    }

    /// The size of one message.
    pub(crate) fn message(&self, message: &Message) -> u64 {
        whole(float(estimate_tokens(message)) * self.factor)
    }

    /// The number of bytes of text for this many tokens.
    pub(crate) fn bytes(&self, tokens: u64) -> usize {
        usize::try_from(whole(float(tokens) * 4.0 / self.factor)).unwrap_or(usize::MAX)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an estimate, and tokens are far fewer than 2^52"
)]
fn float(tokens: u64) -> f64 {
    tokens as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates"
)]
fn whole(tokens: f64) -> u64 {
    tokens.ceil() as u64
}

#[cfg(test)]
mod tests {
    use domain::Role;

    use super::*;

    #[test]
    fn the_servers_count_puts_the_rule_of_thumb_right() {
        let settings = ModelSettings {
            context_tokens: Some(1_000),
            ..ModelSettings::default()
        };
        let mut gauge = Gauge::new(&settings, 0.75, &[]);
        let messages = [Message::text(Role::User, "x".repeat(384))];
        assert_eq!((gauge.request(&messages), gauge.limit()), (100, Some(750)));
        gauge.learn(100, 150);
        assert_eq!((gauge.request(&messages), gauge.bytes(150)), (150, 400));
        gauge.learn(100, 1);
        assert_eq!(
            gauge.request(&messages),
            80,
            "a count without what was cached is not believed"
        );
        gauge.learn(100, 100);
        gauge.was_refused(&messages);
        assert_eq!(gauge.limit(), Some(75), "the server knows better");
    }
}
