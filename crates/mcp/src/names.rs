//! Tool names for models, which accept at most 64 letters, digits, `_` and `-`.

/// Maximum length of a tool name.
const LIMIT_CHARS: usize = 64;

/// `server__tool`, or if models would refuse that, a similar name with a hash that makes it unique. The same tool
/// always gets the same name.
#[must_use]
pub fn name_for_models(server: &str, tool: &str) -> String {
    let whole = format!("{server}__{tool}");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if whole.len() <= LIMIT_CHARS && whole.chars().all(is_plain) {
        return whole;
    }
    let number = format!("_{:08x}", fingerprint(&whole));
    let plain = whole.chars().map(|c| if is_plain(c) { c } else { '_' });
    plain
        .take(LIMIT_CHARS - number.len())
        .chain(number.chars())
        .collect()
}

/// FNV-1a. It need not resist attacks: of two tools with one name the second is left out.
fn fingerprint(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::name_for_models;

    #[test]
    fn names_are_valid_for_models() {
        assert_eq!(
            name_for_models("files", "read_text-file"),
            "files__read_text-file"
        );
        assert_eq!(name_for_models("a", "лес/дом"), "a__________c238cad5");
        let long = name_for_models("server", &"x".repeat(200));
        assert_eq!(long.len(), 64);
        assert_ne!(long, name_for_models("server", &"x".repeat(201)));
    }
}
