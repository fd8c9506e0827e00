//! Finds aliases that a document itself states, such as `World Health Organization (WHO)`; the quote is the proof.

use crate::documents::Documents;
use std::collections::HashMap;

use agent::graph::key;
use domain::EntityId;
use store::{GraphAlias, GraphQuote, GraphScope, StoreError};

/// Maximum number of quotes examined.
const QUOTES: u32 = 2_000;
/// Number of letters in an abbreviation.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=10;
/// Maximum number of extra words in a long name, such as “of” and “the”, besides those that match the letters.
const SMALL_WORDS: usize = 4;
/// Maximum number of proposals.
const MAX_PROPOSED: usize = 50;

/// Two names of one entity, with the quote that says so, if there is one.
#[derive(Debug)]
pub(crate) struct SameThing {
    pub(crate) names: GraphAlias,
    pub(crate) proof: Option<GraphQuote>,
}

/// A long name and its abbreviation in a quote, with their positions in characters.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    long: String,
    short: String,
    first: usize,
    behind: usize,
}

impl Documents {
    /// The merged names of a graph, and the aliases that its documents state but that are not merged yet.
    pub(crate) async fn same_things(
        &self,
        scope: &GraphScope,
    ) -> Result<(Vec<SameThing>, Vec<SameThing>), StoreError> {
        let merged = self.store.graph_aliases(scope).await?;
        let mut proofs: HashMap<(String, String), GraphQuote> = HashMap::new();
        for quote in self.store.bracketed_quotes(scope, QUOTES).await? {
            for said in all_said(&quote.quote) {
                let pair = (key(&said.long), key(&said.short));
                proofs.entry(pair).or_insert_with(|| at(&quote, &said));
            }
        }
        let keys: Vec<String> = proofs
            .keys()
            .flat_map(|(long, short)| [long.clone(), short.clone()])
            .collect();
        let known = self.store.entities_by_keys(scope, &keys).await?;
        let entity_of: HashMap<EntityId, EntityId> =
            merged.iter().map(|one| (one.alias, one.entity)).collect();
        let main = |id: EntityId| entity_of.get(&id).copied().unwrap_or(id);
        let mut proposed: Vec<SameThing> = Vec::new();
        for ((long, short), quote) in &proofs {
            let (Some((entity, entity_name)), Some((alias, alias_name))) =
                (known.get(long), known.get(short))
            else {
                continue;
            };
            if main(*entity) != main(*alias) {
                let names = GraphAlias {
                    entity: *entity,
                    entity_name: entity_name.clone(),
                    alias: *alias,
                    alias_name: alias_name.clone(),
                };
                proposed.push(SameThing {
                    names,
                    proof: Some(quote.clone()),
                });
            }
        }
        proposed.sort_by(|a, b| {
            (&a.names.entity_name, &a.names.alias_name)
                .cmp(&(&b.names.entity_name, &b.names.alias_name))
        });
        proposed.truncate(MAX_PROPOSED);
        let proof_of = |names: &GraphAlias| {
            let entity = key(&names.entity_name);
            let alias = key(&names.alias_name);
            let either = proofs.get(&(entity.clone(), alias.clone()));
            either.or_else(|| proofs.get(&(alias, entity))).cloned()
        };
        let merged = merged
            .into_iter()
            .map(|names| SameThing {
                proof: proof_of(&names),
                names,
            })
            .collect();
        Ok((merged, proposed))
    }
}

/// The part of the quote that states the alias, with its position in the document.
fn at(quote: &GraphQuote, said: &Said) -> GraphQuote {
    let words: String = quote
        .quote
        .chars()
        .skip(said.first)
        .take(said.behind - said.first)
        .collect();
    GraphQuote {
        first: quote.first + said.first as u64,
        behind: quote.first + said.behind as u64,
        quote: words,
        ..quote.clone()
    }
}

/// All long names with their abbreviations in a text.
fn all_said(text: &str) -> Vec<Said> {
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    for (open, _) in chars.iter().enumerate().filter(|(_, char)| **char == '(') {
        let inside: String = chars[open + 1..]
            .iter()
            .take_while(|char| **char != ')')
            .take(40)
            .collect();
        let behind = open + 2 + inside.chars().count();
        if chars.get(behind - 1) != Some(&')') || !is_abbreviation(&inside) {
            continue;
        }
        if let Some((long, first)) = long_name(&chars[..open], &inside) {
            all.push(Said {
                long,
                short: inside.trim().to_owned(),
                first,
                behind,
            });
        }
    }
    all
}

/// Whether a word is mostly capitals, such as `WHO` or `NaCl`.
fn is_abbreviation(text: &str) -> bool {
    let text = text.trim();
    let letters = text.chars().filter(|char| char.is_alphanumeric()).count();
    let capitals = text.chars().filter(|char| char.is_uppercase()).count();
    LETTERS.contains(&letters)
        && 2 * capitals > letters
        && text
            .chars()
            .all(|char| char.is_alphanumeric() || matches!(char, '.' | '-' | '&'))
}

/// The shortest sequence of words directly before a bracket whose initials, in order, are the letters of the
/// abbreviation, and its start. The first word begins with the first letter.
fn long_name(before: &[char], short: &str) -> Option<(String, usize)> {
    let letters: Vec<char> = short
        .chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let mut starts: Vec<usize> = Vec::new();
    for (at, char) in before.iter().enumerate() {
        let begins = char.is_alphanumeric() && (at == 0 || !before[at - 1].is_alphanumeric());
        if begins {
            starts.push(at);
        }
    }
    let initial = |at: usize| before[at].to_lowercase().next();
    let most = letters.len() + SMALL_WORDS;
    for count in letters.len()..=most.min(starts.len()) {
        let words = &starts[starts.len() - count..];
        let mut left = letters.iter().peekable();
        for (place, word) in words.iter().enumerate() {
            if left.peek().copied().copied() == initial(*word) {
                left.next();
            } else if place == 0 {
                break;
            }
        }
        if left.peek().is_none() {
            let first = words[0];
            let name: String = before[first..].iter().collect();
            let name = name.trim().to_owned();
            // A name does not span sentences.
            return (!name.contains(['.', ';', ':', '\n'])).then_some((name, first));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str, &str)]) {
        let all: Vec<_> = all_said(text)
            .into_iter()
            .map(|said| {
                let words: String = text
                    .chars()
                    .skip(said.first)
                    .take(said.behind - said.first)
                    .collect();
                (said.long, said.short, words)
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned()))
            .collect();
        assert_eq!(all, expected, "{text}");
    }

    #[test]
    fn abbreviations_stand_behind_their_names() {
        let who = "World Health Organization";
        check(
            "The World Health Organization (WHO) says so.",
            &[(who, "WHO", "World Health Organization (WHO)")],
        );
        check(
            "Agents of the Bank of the North Sea (BNS) and of the Royal Society (RS)",
            &[
                (
                    "Bank of the North Sea",
                    "BNS",
                    "Bank of the North Sea (BNS)",
                ),
                ("Royal Society", "RS", "Royal Society (RS)"),
            ],
        );
        check(
            "Всемирная организация здравоохранения (ВОЗ)",
            &[(
                "Всемирная организация здравоохранения",
                "ВОЗ",
                "Всемирная организация здравоохранения (ВОЗ)",
            )],
        );
    }

    #[test]
    fn what_is_no_abbreviation_of_it_proves_nothing() {
        for text in [
            "World Health Organization (Geneva)",
            "World Health Organization (UN)",
            "(WHO)",
            "Health Organization (WHO)",
            "World. Health Organization (WHO)",
            "World Health Organization (WHO",
            "World Health Organization ()",
            "World Health Organization (W H O !)",
            "(((((",
        ] {
            check(text, &[]);
        }
        let long = "a (A".repeat(10_000);
        assert!(all_said(&long).is_empty());
    }
}
