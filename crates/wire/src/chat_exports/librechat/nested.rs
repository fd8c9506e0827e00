//! Takes messages out of each other. A long chat is nested deeper than a JSON parser allows, so its text is cut instead.

/// A message without its children.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The index of the message that it was in.
    pub(super) parent: Option<usize>,
    /// Its JSON.
    pub(super) json: Vec<u8>,
}

/// The messages of a list, in the order in which they begin; `None` if there are more than `max`. The text has to be
/// valid JSON. Elements that are not objects are skipped.
pub(super) fn unfold(list: &str, max: usize) -> Option<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    let Some(list) = list.trim_start().strip_prefix('[') else {
        return Some(found);
    };
    let bytes = list.as_bytes();
    let mut at = 0;
    // The messages around the current place.
    let mut open: Vec<usize> = Vec::new();
    // Whether the current place is between the elements of a list, not inside the innermost message.
    let mut in_list = true;
    while let Some(byte) = bytes.get(at) {
        let size = match (in_list, byte) {
            (true, b'{' | b']') => 1,
            _ => value_bytes(&bytes[at..]),
        };
        let text = &bytes[at..at + size];
        at += size;
        match (in_list, byte) {
            (true, b'{') => {
                if found.len() == max {
                    return None;
                }
                let parent = open.last().copied();
                open.push(found.len());
                let json = text.to_vec();
                found.push(Found { parent, json });
                in_list = false;
            }
            (true, b']') => in_list = false,
            (true, _) => {}
            (false, _) => {
                let Some(message) = open.last() else { break };
                let json = &mut found[*message].json;
                json.extend_from_slice(text);
                if *byte == b'}' {
                    open.pop();
                    in_list = true;
                } else if text == b"\"children\""
                    && let Some(skipped) = list_after(&bytes[at..])
                {
                    json.extend_from_slice(b":[]");
                    at += skipped;
                    in_list = true;
                }
            }
        }
    }
    Some(found)
}

/// The length of an object, a list or a text in quotes, or of one byte.
fn value_bytes(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            _ => {}
        }
        at += token(&bytes[at..]);
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a text in quotes, or of one byte.
fn token(bytes: &[u8]) -> usize {
    if bytes.first() != Some(&b'"') {
        return 1;
    }
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The length of a colon and an opening bracket, if those follow.
fn list_after(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for expected in [b':', b'['] {
        at += bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if bytes.get(at) != Some(&expected) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[(Option<usize>, &str)]) {
        let found = unfold(list, 10).expect("few messages");
        let found: Vec<(Option<usize>, &str)> = found
            .iter()
            .map(|it| (it.parent, std::str::from_utf8(&it.json).expect("text")))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn messages_are_taken_out_of_each_other() {
        check("", &[]);
        check("[1,\"{\", null]", &[]);
        check(
            "[{\"a\":[{}]}, {\"b\":\"}]\\\"\"}]",
            &[(None, "{\"a\":[{}]}"), (None, "{\"b\":\"}]\\\"\"}")],
        );
        check(
            "[{\"a\":1,\"children\" : [{\"b\":{\"children\":[{}]},\"children\":[7,{\"c\":\"children\"}],\"d\":2},{}],\"e\":3}]",
            &[
                (None, "{\"a\":1,\"children\":[],\"e\":3}"),
                (
                    Some(0),
                    "{\"b\":{\"children\":[{}]},\"children\":[],\"d\":2}",
                ),
                (Some(1), "{\"c\":\"children\"}"),
                (Some(0), "{}"),
            ],
        );
        check(
            "[{\"a\":1,\"children\":[[{\"b\":[{}]},[\"]\"]],{\"c\":2},3],\"d\":4},[{\"e\":5}],{}] [{}]",
            &[
                (None, "{\"a\":1,\"children\":[],\"d\":4}"),
                (Some(0), "{\"c\":2}"),
                (None, "{}"),
            ],
        );
        check("[{\"children\":null}]", &[(None, "{\"children\":null}")]);
        assert_eq!(unfold(&format!("[{}]", "{},".repeat(11)), 10), None);
    }
}
