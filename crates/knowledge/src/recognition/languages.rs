//! Which of the installed languages are used for a script.

/// A script as the program's detection names it, the name of the program's model for all its languages, and these
/// languages. Those of one script are used together: for Latin, five languages take half as long again as one, and make
/// no more errors.
struct Script {
    names: &'static [&'static str],
    model: &'static str,
    languages: &'static [&'static str],
    /// Whether English words among the others are read better with English.
    with_english: bool,
}

/// The scripts, the most common first.
const SCRIPTS: [Script; 14] = [
    script("Latin", LATIN, false),
    script(
        "Cyrillic",
        &["rus", "ukr", "bul", "srp", "bel", "kaz"],
        true,
    ),
    Script {
        names: &["Han"],
        ..script("HanS", &["chi_sim"], false)
    },
    Script {
        names: &["Japanese", "Hiragana", "Katakana"],
        ..script("Japanese", &["jpn"], false)
    },
    Script {
        names: &["Korean", "Hangul"],
        ..script("Hangul", &["kor"], true)
    },
    script("Arabic", &["ara", "fas", "urd"], false),
    Script {
        names: &[],
        ..script("HanT", &["chi_tra"], false)
    },
    script("Greek", &["ell"], true),
    script("Hebrew", &["heb"], true),
    script("Devanagari", &["hin", "mar", "nep"], true),
    script("Thai", &["tha"], false),
    script("Bengali", &["ben"], true),
    script("Georgian", &["kat"], true),
    script("Armenian", &["hye"], true),
];

/// The languages of the page, then those with most readers.
const LATIN: &[&str] = &[
    "eng", "deu", "fra", "spa", "por", "ita", "nld", "pol", "tur", "vie", "ces", "swe", "ron",
    "hun", "dan", "nor", "fin", "ind", "cat", "hrv", "slk", "slv",
];
/// Each further language makes a page slower.
const MAX_LANGUAGES: usize = 6;

const fn script(
    name: &'static str,
    languages: &'static [&'static str],
    with_english: bool,
) -> Script {
    Script {
        names: &[],
        model: name,
        languages,
        with_english,
    }
}

impl Script {
    fn is(&self, name: &str) -> bool {
        self.model == name || self.names.contains(&name)
    }
}

/// The installed languages.
pub(super) struct Languages<'a> {
    installed: &'a [String],
}

impl<'a> Languages<'a> {
    pub(super) fn new(installed: &'a [String]) -> Self {
        Self { installed }
    }

    /// The languages to use for a script, as the program's argument; `None` if there are none.
    pub(super) fn of_script(&self, name: &str) -> Option<String> {
        let script = SCRIPTS.iter().find(|script| script.is(name));
        let chosen = script.and_then(|script| self.of(script));
        // Text in Traditional Chinese is detected as Han, too.
        let simplified_or_traditional = || {
            let traditional = SCRIPTS.iter().find(|script| script.model == "HanT")?;
            (name == "Han").then(|| self.of(traditional))?
        };
        chosen.or_else(simplified_or_traditional)
    }

    /// The languages of each script, and other ones by themselves.
    pub(super) fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = SCRIPTS
            .iter()
            .filter_map(|script| self.of(script))
            .collect();
        let is_known = |name: &str| {
            let mut scripts = SCRIPTS.iter();
            scripts.any(|script| model_of(name) == script.model || script.languages.contains(&name))
        };
        let others = self.installed.iter().filter(|name| !is_known(name));
        groups.extend(others.take(MAX_LANGUAGES).cloned());
        groups
    }

    fn of(&self, script: &Script) -> Option<String> {
        let model = self
            .installed
            .iter()
            .find(|name| model_of(name) == script.model);
        if let Some(model) = model {
            return Some(model.clone());
        }
        let is_there = |name: &&str| self.installed.iter().any(|one| one == name);
        let mut chosen: Vec<&str> = script
            .languages
            .iter()
            .copied()
            .filter(is_there)
            .take(MAX_LANGUAGES)
            .collect();
        if chosen.is_empty() {
            return None;
        }
        if script.with_english && is_there(&"eng") {
            chosen.push("eng");
        }
        Some(chosen.join("+"))
    }
}

/// The name of a script's model, which is in a folder of its own on some systems.
fn model_of(name: &str) -> &str {
    name.strip_prefix("script/").unwrap_or(name)
}

/// How the program finds the columns of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// By itself.
    Columns,
    /// It does not, since the wide spaces of Korean would be taken for gaps between columns.
    OneColumn,
}

/// How a page in these languages is laid out.
pub(super) fn layout(languages: &str) -> Layout {
    let is_korean = |name: &str| matches!(model_of(name), "kor" | "Hangul");
    if languages.split('+').any(is_korean) {
        Layout::OneColumn
    } else {
        Layout::Columns
    }
}

/// Whether it can be the name of a language, and not of a file elsewhere.
pub(super) fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    name.len() <= 40 && is_part(model_of(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn languages_go_with_their_script() {
        let names = installed("ara chi_sim chi_tra deu eng fra jpn kor por rus spa tlh");
        let languages = Languages::new(&names);
        for (script, expected) in [
            ("Latin", Some("eng+deu+fra+spa+por")),
            ("Cyrillic", Some("rus+eng")),
            ("Han", Some("chi_sim")),
            ("Japanese", Some("jpn")),
            ("Katakana", Some("jpn")),
            ("Korean", Some("kor+eng")),
            ("Arabic", Some("ara")),
            ("Greek", None),
            ("Runic", None),
        ] {
            assert_eq!(languages.of_script(script).as_deref(), expected, "{script}");
        }
        assert_eq!(
            languages.groups(),
            [
                "eng+deu+fra+spa+por",
                "rus+eng",
                "chi_sim",
                "jpn",
                "kor+eng",
                "ara",
                "chi_tra",
                "tlh"
            ]
        );
    }

    #[test]
    fn the_model_of_a_script_comes_before_its_languages() {
        let debian = installed("Latin eng chi_tra");
        let languages = Languages::new(&debian);
        assert_eq!(languages.of_script("Latin").as_deref(), Some("Latin"));
        assert_eq!(languages.of_script("Han").as_deref(), Some("chi_tra"));
        let others = installed("eng script/Cyrillic");
        let languages = Languages::new(&others);
        assert_eq!(
            languages.of_script("Cyrillic").as_deref(),
            Some("script/Cyrillic")
        );
        let many = installed("eng deu fra spa por ita nld pol");
        assert_eq!(
            Languages::new(&many).of_script("Latin").as_deref(),
            Some("eng+deu+fra+spa+por+ita")
        );
    }

    #[test]
    fn korean_is_read_in_one_column() {
        assert_eq!(
            ["eng+deu", "kor+eng", "script/Hangul", "jpn"].map(layout),
            [
                Layout::Columns,
                Layout::OneColumn,
                Layout::OneColumn,
                Layout::Columns
            ]
        );
    }

    #[test]
    fn names_are_not_paths() {
        for name in ["eng", "chi_sim_vert", "script/Latin", "Latin"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "../eng",
            "a+b",
            "script/",
            "script/../x",
            "-l",
            "eng deu",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
