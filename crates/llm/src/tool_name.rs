//! Matches the tool name that a model wrote against the offered tools, tolerating other spellings.

/// Prefixes that models and their templates add to a name.
const PREFIXES: [&str; 7] = [
    "functions.",
    "function.",
    "functions:",
    "function:",
    "tools.",
    "tool.",
    "default_api.",
];

/// The offered tool that a written name means, if there is exactly one: the name itself, without additions of templates
/// (`functions.ls`, `ls<|channel|>commentary`), or in another spelling (`Write File`, `write-file`).
#[must_use]
pub fn meant_tool<'a>(written: &str, offered: &[&'a str]) -> Option<&'a str> {
    if let Some(exact) = offered.iter().find(|name| **name == written) {
        return Some(exact);
    }
    let plain = plain(written);
    if let Some(exact) = offered.iter().find(|name| **name == plain) {
        return Some(exact);
    }
    let spelling = spelling(plain);
    let mut fitting = offered
        .iter()
        .filter(|name| self::spelling(name) == spelling);
    let only = fitting.next().filter(|_| !spelling.is_empty());
    only.filter(|_| fitting.next().is_none()).copied()
}

fn plain(written: &str) -> &str {
    let name = written.split("<|").next().unwrap_or_default();
    let name = name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'));
    let name = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    // Kimi's ids are names with an index.
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => name,
    };
    name.strip_suffix("()").unwrap_or(name)
}

/// The letters and digits of a name in lower case, however it separates words.
fn spelling(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_one_tool() {
        let offered = ["ls", "write_file", "read-file", "read_file", "web.search"];
        for (written, meant) in [
            ("ls", Some("ls")),
            ("read_file", Some("read_file")),
            ("Write_File", Some("write_file")),
            (" write_file ", Some("write_file")),
            ("write file", Some("write_file")),
            ("writeFile", Some("write_file")),
            ("functions.write_file", Some("write_file")),
            ("write_file<|channel|>commentary", Some("write_file")),
            ("functions.ls:0", Some("ls")),
            ("ls()", Some("ls")),
            ("web_search", Some("web.search")),
            ("ReadFile", None),
            ("write_files", None),
            ("delete_file", None),
            ("<|channel|>", None),
            ("_", None),
            ("", None),
        ] {
            assert_eq!(meant_tool(written, &offered), meant, "{written}");
        }
    }
}
