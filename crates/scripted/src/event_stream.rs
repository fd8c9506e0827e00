//! AWS's binary event stream format, used by Bedrock for streaming.

use serde_json::Value;

/// Size of the two lengths and their checksum, and of the final checksum.
const AROUND: usize = 16;

/// The content type of such an answer.
pub const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// The frame of an event.
#[must_use]
pub fn event(name: &str, payload: &Value) -> Vec<u8> {
    frame(
        &[
            (":event-type", name),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ],
        payload,
    )
}

/// The frame of an exception, which ends the stream.
#[must_use]
pub fn exception(name: &str, message: &str) -> Vec<u8> {
    frame(
        &[
            (":exception-type", name),
            (":content-type", "application/json"),
            (":message-type", "exception"),
        ],
        &serde_json::json!({ "message": message }),
    )
}

fn frame(headers: &[(&str, &str)], payload: &Value) -> Vec<u8> {
    let headers = headers
        .iter()
        .flat_map(|(name, value)| header(name, value))
        .collect::<Vec<u8>>();
    let payload = payload.to_string();
    let mut frame = length(AROUND + headers.len() + payload.len()).to_vec();
    frame.extend(length(headers.len()));
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame.extend(headers);
    frame.extend(payload.into_bytes());
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame
}

/// A header with a string value, which is type 7.
fn header(name: &str, value: &str) -> Vec<u8> {
    let [.., high, low] = length(value.len());
    let [.., name_length] = length(name.len());
    [
        &[name_length],
        name.as_bytes(),
        &[7, high, low],
        value.as_bytes(),
    ]
    .concat()
}

/// Scripts are far shorter than the maximum.
fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use provider::bedrock::{FrameDecoder, Message};
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_are_read_as_they_were_meant() {
        let payload = json!({"delta": {"text": "ü"}});
        let mut decoder = FrameDecoder::new(1 << 16);
        decoder.feed(
            &[
                event("contentBlockDelta", &payload),
                exception("throttlingException", "Slow down."),
            ]
            .concat(),
        );
        let read: Vec<Message> = std::iter::from_fn(|| decoder.next())
            .map(Result::unwrap)
            .collect();
        let message = |name: &str, data: &Value| Message {
            name: name.to_owned(),
            data: data.to_string(),
        };
        assert_eq!(
            read,
            [
                message("contentBlockDelta", &payload),
                message(
                    "exception/throttlingException",
                    &json!({"message": "Slow down."})
                ),
            ]
        );
    }
}
