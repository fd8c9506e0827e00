//! Suggestions for misspelt names.

/// The maximum number of suggestions.
const MAX_NAMES: usize = 3;

/// The most similar names, best match first; empty if none is similar.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // A longer name is not a plausible misspelling.
    let wanted: String = name.to_lowercase().chars().take(100).collect();
    let is_alike = |known: &str, distance: usize| {
        let longer = wanted.chars().count().max(known.chars().count());
        distance <= longer.div_ceil(3)
            || wanted.len() >= 3
                && (known.contains(&wanted) || known.len() >= 3 && wanted.contains(known))
    };
    let mut alike: Vec<(usize, &str)> = known
        .filter_map(|name| {
            let known: String = name.to_lowercase().chars().take(100).collect();
            let distance = strsim::osa_distance(&wanted, &known);
            is_alike(&known, distance).then_some((distance, name))
        })
        .collect();
    alike.sort_unstable();
    alike
        .into_iter()
        .take(MAX_NAMES)
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_alike_and_the_likest_first() {
        let known = [
            "claude-sonnet-4-5",
            "gpt-5.2",
            "gpt-5.2-mini",
            "llama3.2:latest",
            "o3",
            "tour",
        ];
        for (name, expected) in [
            ("gpt-5.2-mni", &["gpt-5.2-mini", "gpt-5.2"][..]),
            ("GPT-5.2", &["gpt-5.2", "gpt-5.2-mini"]),
            ("llama3.2", &["llama3.2:latest"]),
            ("claude-sonnet-4-6", &["claude-sonnet-4-5"]),
            ("openai/o4", &[]),
            ("mistral-large", &[]),
            ("", &[]),
        ] {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
    }
}
