//! Parses and evaluates `robots.txt` as specified by RFC 9309.

use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Our product token.
const NAME: &str = "glasshouse";
/// Limits on what is parsed; the rest is ignored.
const MAX_RULES: usize = 2000;
const RULE_BYTES: usize = 1000;
const MAX_SITEMAPS: usize = 20;
/// Maximum pause; longer requests for a pause are capped.
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Characters that URLs percent-encode.
const AS_IN_ADDRESSES: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');

/// The rules of a site for us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Robots {
    rules: Vec<Rule>,
    /// The requested pause between two requests.
    pub(super) pause: Option<Duration>,
    /// URLs of its sitemaps.
    pub(super) sitemaps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allows: bool,
    pattern: String,
}

impl Robots {
    /// Rules that disallow everything.
    pub(super) fn closed() -> Self {
        let rules = vec![Rule {
            allows: false,
            pattern: "/".to_owned(),
        }];
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Parses a `robots.txt`. Invalid lines are ignored.
    pub(super) fn parse(text: &str) -> Self {
        let mut own = Self::default();
        let mut others = Self::default();
        let (mut own_is_named, mut is_own, mut is_others, mut in_rules) =
            (false, false, false, false);
        let mut sitemaps = Vec::new();
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let name = name.trim().to_ascii_lowercase();
            let value = value.trim();
            match name.as_str() {
                "user-agent" => {
                    if in_rules {
                        (is_own, is_others, in_rules) = (false, false, false);
                    }
                    let agent = value.split(['/', ' ']).next().unwrap_or_default();
                    is_others |= agent == "*";
                    is_own |= agent.eq_ignore_ascii_case(NAME);
                    own_is_named |= is_own;
                }
                "allow" | "disallow" | "crawl-delay" => {
                    in_rules = true;
                    for (group, is_meant) in [(&mut own, is_own), (&mut others, is_others)] {
                        if is_meant {
                            group.add(&name, value);
                        }
                    }
                }
                "sitemap" if sitemaps.len() < MAX_SITEMAPS => sitemaps.push(value.to_owned()),
                _ => {}
            }
        }
        let group = if own_is_named { own } else { others };
        Self { sitemaps, ..group }
    }

    fn add(&mut self, name: &str, value: &str) {
        if name == "crawl-delay" {
            let seconds = value
                .parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            self.pause = seconds.map(|pause| pause.min(MAX_PAUSE));
        } else if !value.is_empty() && value.len() <= RULE_BYTES && self.rules.len() < MAX_RULES {
            let pattern = utf8_percent_encode(value, AS_IN_ADDRESSES).to_string();
            self.rules.push(Rule {
                allows: name == "allow",
                pattern,
            });
        }
    }

    /// Whether a path with its query is allowed. The longest matching rule wins; of equally long ones, the one that
    /// allows.
    pub(super) fn allow(&self, target: &str) -> bool {
        let fitting = self.rules.iter().filter(|rule| fits(&rule.pattern, target));
        fitting
            .max_by_key(|rule| (rule.pattern.len(), rule.allows))
            .is_none_or(|rule| rule.allows)
    }
}

/// Whether a pattern matches: `*` matches any text, and `$` at the end matches the end.
fn fits(pattern: &str, target: &str) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = target.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        let Some(place) = rest.find(piece) else {
            return false;
        };
        last = Some((piece, rest));
        rest = &rest[place + piece.len()..];
    }
    match last {
        _ if !to_end => true,
        // The last part may match anywhere after the previous one.
        Some((piece, before)) => before.ends_with(piece),
        None => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_rule_takes_precedence() {
        let robots = Robots::parse(
            "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\nDisallow: /q?*x=1\nDisallow:\n\
             Disallow: /ж\nCrawl-delay: 2.5\n\nUser-agent: BadBot\nDisallow: /\nSitemap: https://e/s.xml # here",
        );
        for (target, expected) in [
            ("/", true),
            ("/a", false),
            ("/ab", false),
            ("/a/b/c", true),
            ("/x/y.pdf", false),
            ("/x/y.pdf?z", true),
            ("/x.pdf.pdf", false),
            ("/q?y=2&x=1", false),
            ("/q?y=2", true),
            ("/%D0%B6", false),
        ] {
            assert_eq!(robots.allow(target), expected, "{target}");
        }
        assert_eq!(robots.pause, Some(Duration::from_millis(2500)));
        assert_eq!(robots.sitemaps, ["https://e/s.xml"]);
    }

    #[test]
    fn our_own_group_is_the_only_one_where_there_is_one() {
        let robots = Robots::parse(
            "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-Agent: GlassHouse/2\nDisallow: /x\nCrawl-delay: 999999",
        );
        assert!(robots.allow("/y") && !robots.allow("/x"));
        assert_eq!(robots.pause, Some(MAX_PAUSE));
        assert!(!Robots::parse("User-agent: *\nDisallow: /").allow("/y"));
        assert!(!Robots::closed().allow("/y"));
    }

    #[test]
    fn nonsense_allows_everything() {
        for text in [
            "",
            "<!doctype html><html>",
            "Disallow: /",
            "user-agent\n:\n*:*\n\u{0}",
            "User-agent: *\nCrawl-delay: -1\nDisallow",
        ] {
            assert!(Robots::parse(text).allow("/a"), "{text}");
        }
        let many = format!(
            "User-agent: *\n{}",
            "Disallow: /*a*b*c*d*e*f*g*h$\n".repeat(5000)
        );
        assert!(Robots::parse(&many).allow(&format!("/{}", "abcdefg".repeat(500))));
    }
}
