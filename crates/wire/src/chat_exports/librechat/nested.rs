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
/// valid JSON.
pub(super) fn unfold(list: &str, max: usize) -> Option<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    // The messages around the current place, each with the depth inside it.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut in_list = false;
    let bytes = list.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let size = token(&bytes[at..]);
        let text = &bytes[at..at + size];
        at += size;
        match (text, open.last_mut()) {
            ([b'['], None) => in_list = true,
            ([b'{'], inside) if in_list => {
                if found.len() == max {
                    return None;
                }
                let parent = inside.map(|(message, _)| *message);
                let json = b"{".to_vec();
                open.push((found.len(), 0));
                found.push(Found { parent, json });
                in_list = false;
            }
            ([b']'], _) if in_list => in_list = false,
            (_, None) => {}
            // Only messages stand in such a list.
            (_, Some(_)) if in_list => {}
            (_, Some((message, depth))) => {
                let json = &mut found[*message].json;
                json.extend_from_slice(text);
                match text {
                    [b'{' | b'['] => *depth += 1,
                    [b'}'] if *depth == 0 => {
                        open.pop();
                        in_list = true;
                    }
                    // A bracket too many is found when the message is parsed.
                    [b'}' | b']'] => *depth = depth.saturating_sub(1),
                    b"\"children\"" if *depth == 0 => {
                        let skipped = list_after(&bytes[at..]);
                        if let Some(skipped) = skipped {
                            json.extend_from_slice(b":[]");
                            at += skipped;
                            in_list = true;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Some(found)
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
        check("[{\"children\":null}]", &[(None, "{\"children\":null}")]);
        assert_eq!(unfold(&format!("[{}]", "{},".repeat(11)), 10), None);
    }
}
