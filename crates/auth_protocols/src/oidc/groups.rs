//! The groups of a user in the claims, or omitted from them because there are too many for a token.

use serde_json::{Map, Value};

/// The groups that a provider reports for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupsClaim {
    /// Exactly these; none if the provider sends no such claim.
    Listed(Vec<String>),
    /// The provider says that it omits them. A directory may list them.
    Omitted,
    /// The claim may be in the user info, which could not be read.
    Unknown,
}

/// The groups at this path of the claims. `has_user_info` is whether the user info could be read.
pub(super) fn of(claims: &Map<String, Value>, path: &[String], has_user_info: bool) -> GroupsClaim {
    match in_claims(claims, path) {
        Some(groups) => GroupsClaim::Listed(groups),
        None if are_omitted(claims, path) => GroupsClaim::Omitted,
        None if !has_user_info => GroupsClaim::Unknown,
        None => GroupsClaim::Listed(Vec::new()),
    }
}

/// Whether the claims say that groups are omitted: by a reference to their location (`_claim_names` of OpenID Connect,
/// or `groups:src1`) or by a flag (`hasgroups`).
fn are_omitted(claims: &Map<String, Value>, path: &[String]) -> bool {
    let Some(claim) = path.first() else {
        return false;
    };
    let is_referred = claims
        .get("_claim_names")
        .and_then(|names| names.get(claim))
        .is_some();
    let reference = format!("{claim}:src");
    let is_marked = claim == "groups"
        && claims
            .get("hasgroups")
            .is_some_and(|mark| *mark == Value::Bool(true) || mark.as_str() == Some("true"));
    is_referred || is_marked || claims.keys().any(|name| name.starts_with(&reference))
}

/// The groups at this path of the claims; a single string counts as one group. `None` if the claim is missing.
fn in_claims(claims: &Map<String, Value>, path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match rest
        .iter()
        .try_fold(claims.get(first)?, |place, name| place.get(name))?
    {
        Value::String(one) => Some(vec![one.clone()]),
        Value::Array(all) => Some(
            all.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn groups_stand_where_the_settings_say() {
        let claims = json!({
            "groups": ["a", 7, "b"], "role": "admin", "realm_access": {"roles": ["c"]}, "odd": {"roles": 5},
        });
        let claims = claims.as_object().unwrap();
        for (names, expected) in [
            (&["groups"][..], Some(&["a", "b"][..])),
            (&["role"], Some(&["admin"])),
            (&["realm_access", "roles"], Some(&["c"])),
            (&["realm_access"], None),
            (&["odd", "roles"], None),
            (&["odd", "roles", "deeper"], None),
            (&["none"], None),
        ] {
            let found = in_claims(claims, &path(names));
            assert_eq!(found, expected.map(path), "{names:?}");
        }
    }

    #[test]
    fn an_omitted_claim_differs_from_a_missing_one() {
        let endpoint = "https://graph.windows.net/9f4/users/7b2/getMemberObjects";
        for (claims, expected) in [
            // Microsoft Entra ID, code flow.
            (
                json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": endpoint}}}),
                true,
            ),
            // The implicit and hybrid flows.
            (json!({"hasgroups": true}), true),
            (json!({"hasgroups": "true"}), true),
            (json!({"groups:src1": endpoint}), true),
            (json!({"hasgroups": false}), false),
            (json!({"_claim_names": {"address": "src1"}}), false),
            (json!({"_claim_names": null}), false),
            (json!({"groups": ["a"]}), false),
            (json!({}), false),
        ] {
            assert_eq!(
                are_omitted(claims.as_object().unwrap(), &path(&["groups"])),
                expected,
                "{claims}"
            );
        }
        let roles = json!({"_claim_names": {"realm_access": "src1"}});
        assert!(are_omitted(
            roles.as_object().unwrap(),
            &path(&["realm_access", "roles"])
        ));
        let other = json!({"hasgroups": true});
        assert!(!are_omitted(other.as_object().unwrap(), &path(&["roles"])));
    }
}
