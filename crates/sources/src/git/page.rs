//! Where the pages of a host show a file.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;

/// What is encoded in a path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The page of a file in a repository; `None` if the kind of the host cannot be told from its name.
pub(super) fn of(repository: &Url, reference: &str, path: &str) -> Option<String> {
    let host = repository.host_str()?;
    let (kind, name) = match reference.strip_prefix("refs/tags/") {
        Some(tag) => ("tag", tag),
        None => (
            "branch",
            reference.strip_prefix("refs/heads/").unwrap_or(reference),
        ),
    };
    let has = |word: &str| host.split('.').any(|label| label.contains(word));
    let middle = if has("github") {
        "blob".to_owned()
    } else if has("gitlab") {
        "-/blob".to_owned()
    } else if has("gitea") || has("forgejo") || has("codeberg") {
        format!("src/{kind}")
    } else if host == "bitbucket.org" {
        "src".to_owned()
    } else {
        return None;
    };
    let base = repository.as_str().trim_end_matches('/');
    let base = base.strip_suffix(".git").unwrap_or(base);
    let encoded = |text| utf8_percent_encode(text, PATH);
    Some(format!(
        "{base}/{middle}/{}/{}",
        encoded(name),
        encoded(path)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hosts_have_pages() {
        for (repository, reference, expected) in [
            (
                "https://github.com/o/r.git",
                "refs/heads/main",
                Some("https://github.com/o/r/blob/main/d/a%20%23.md"),
            ),
            (
                "https://gitlab.example.com/g/s/r",
                "refs/heads/f/x",
                Some("https://gitlab.example.com/g/s/r/-/blob/f/x/d/a%20%23.md"),
            ),
            (
                "https://codeberg.org/o/r.git",
                "refs/heads/main",
                Some("https://codeberg.org/o/r/src/branch/main/d/a%20%23.md"),
            ),
            (
                "https://gitea.example.com/o/r",
                "refs/tags/v1",
                Some("https://gitea.example.com/o/r/src/tag/v1/d/a%20%23.md"),
            ),
            (
                "https://bitbucket.org/o/r.git",
                "HEAD",
                Some("https://bitbucket.org/o/r/src/HEAD/d/a%20%23.md"),
            ),
            ("https://example.com/r.git", "refs/heads/main", None),
        ] {
            let page = of(&repository.parse().unwrap(), reference, "d/a #.md");
            assert_eq!(page.as_deref(), expected);
        }
    }
}
