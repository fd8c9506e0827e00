//! Anthropic's Messages API against recordings. The tests of `wire` cover requests and returned data, as they read the
//! recorded requests as a client's.

use proptest::prelude::*;
use provider::{
    AnswerEvent,
    anthropic::{Decoder, PROVIDER, error},
};
use serde_json::Value;

use crate::recorded::{Exchange, decode_stream, decode_whole, joined, recordings, shown};

/// The events of a recorded answer; `None` for a count of tokens.
fn events(exchange: &Exchange) -> Option<Vec<AnswerEvent>> {
    let decoded = match &exchange.response {
        Value::String(stream) => decode_stream(Decoder::default(), [stream.as_bytes()]),
        body if body.get("content").is_some() => {
            decode_whole(Decoder::default(), &body.to_string())
        }
        _ => return None,
    };
    Some(joined(decoded.unwrap()))
}

#[test]
fn recorded_answers_are_read() {
    for (name, exchanges) in recordings(PROVIDER) {
        let of = |exchange: &Exchange| match exchange.status {
            200 => events(exchange)
                .map_or_else(|| exchange.response.to_string(), |events| shown(&events)),
            status => format!("{:?}", error(status, &exchange.response.to_string())),
        };
        let shown: Vec<String> = exchanges.iter().map(of).collect();
        insta::assert_snapshot!(format!("anthropic__{name}"), shown.join("\n\n"));
    }
}

fn check_pieces(name: &str, exchange: &Exchange) {
    let Value::String(stream) = &exchange.response else {
        return;
    };
    let whole = decode_stream(Decoder::default(), [stream.as_bytes()]);
    assert_eq!(
        decode_stream(Decoder::default(), stream.as_bytes().chunks(1)),
        whole,
        "{name}, byte by byte"
    );
}

#[test]
fn streams_are_read_in_any_pieces() {
    for (name, exchanges) in recordings(PROVIDER) {
        exchanges
            .iter()
            .filter(|exchange| exchange.status == 200)
            .for_each(|exchange| check_pieces(&name, exchange));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        let _ = decode_whole(Decoder::default(), &text);
    }

    #[test]
    fn cut_and_changed_streams_never_panic(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        changed in any::<prop::sample::Index>(),
    ) {
        let streams: Vec<String> = recordings(PROVIDER)
            .into_iter()
            .flat_map(|(_, exchanges)| exchanges)
            .filter_map(|exchange| exchange.response.as_str().map(str::to_owned))
            .collect();
        let mut bytes = which.get(&streams).clone().into_bytes();
        let at = changed.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len()));
        let whole = decode_stream(Decoder::default(), [&bytes[..]]);
        prop_assert_eq!(decode_stream(Decoder::default(), bytes.chunks(7)), whole);
    }
}
