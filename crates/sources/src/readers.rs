//! Collects who may read a document.

use std::collections::BTreeSet;

use crate::Readers;

/// All readers so far; empty at first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Audience {
    is_all: bool,
    people: BTreeSet<String>,
    groups: BTreeSet<String>,
    domains: BTreeSet<String>,
}

impl Audience {
    pub(crate) fn add_all(&mut self) {
        self.is_all = true;
    }

    /// Adds a person, if this is an email address.
    pub(crate) fn add_person(&mut self, address: &str) {
        self.people.extend(email(address));
    }

    pub(crate) fn add_group(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() {
            self.groups.insert(name.to_owned());
        }
    }

    pub(crate) fn add_domain(&mut self, domain: &str) {
        let domain = domain.trim().to_lowercase();
        if !domain.is_empty() && !domain.contains('@') {
            self.domains.insert(domain);
        }
    }

    pub(crate) fn into_readers(self) -> Readers {
        if self.is_all {
            return Readers::All;
        }
        Readers::Only {
            people: self.people.into_iter().collect(),
            groups: self.groups.into_iter().collect(),
            domains: self.domains.into_iter().collect(),
        }
    }
}

/// For documents whose rights are not known.
pub(crate) fn none() -> Readers {
    Audience::default().into_readers()
}

/// An email address in lower case. User names of guests in Microsoft's directory are none, although they look like one.
pub(crate) fn email(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (name, domain) = text.rsplit_once('@')?;
    let is_plain =
        |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control());
    let is_one = is_plain(name) && is_plain(domain) && !name.contains('@');
    (is_one && !name.contains("#ext#")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_people() {
        for (text, expected) in [
            (" Ann@Example.com", Some("ann@example.com")),
            ("ann", None),
            ("@example.com", None),
            ("ann@", None),
            ("a@b@c", None),
            ("a b@c", None),
            ("ann_gmail.com#EXT#@contoso.onmicrosoft.com", None),
        ] {
            assert_eq!(email(text).as_deref(), expected, "{text}");
        }
    }
}
