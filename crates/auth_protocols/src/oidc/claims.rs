//! Claims about a user: who it is, and what the token and the user info say together.

use serde_json::{Map, Value};

/// The subject in some claims. Some providers send a number, which becomes its decimal text. One that is not a whole
/// number within 64 bits is not accepted: rounded, it could be that of another user.
#[must_use]
pub fn subject(claims: &Map<String, Value>) -> Option<String> {
    match claims.get("sub")? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Adds claims of the user info that the token lacks or has as null. Whether an address is verified is said of the
/// address beside it only.
pub(super) fn merge(claims: &mut Map<String, Value>, mut more: Map<String, Value>) {
    const VERIFIED: &str = "email_verified";
    let address =
        |claims: &Map<String, Value>| claims.get("email").filter(|it| !it.is_null()).cloned();
    match (address(claims), address(&more)) {
        (None, Some(_)) => _ = claims.remove(VERIFIED),
        (Some(own), Some(other)) if own != other => _ = more.remove(VERIFIED),
        _ => {}
    }
    for (name, value) in more {
        if claims.get(&name).is_none_or(Value::is_null) {
            claims.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(claims: Value) -> Map<String, Value> {
        serde_json::from_value(claims).unwrap()
    }

    #[test]
    fn subjects_are_texts_or_whole_numbers() {
        for (sub, expected) in [
            (json!("a"), Some("a")),
            (json!(7), Some("7")),
            (json!(-7), Some("-7")),
            (json!(u64::MAX), Some("18446744073709551615")),
            (json!(7.0), None),
            (json!(1e30), None),
            (json!(null), None),
            (json!(true), None),
            (json!(["a"]), None),
        ] {
            let claims = map(json!({"sub": sub}));
            assert_eq!(subject(&claims).as_deref(), expected, "{sub}");
        }
        // Rounded, both are the same number.
        let [one, two] = ["184467440737095516160", "184467440737095516161"];
        for sub in [one, two] {
            let claims: Value = serde_json::from_str(&format!("{{\"sub\":{sub}}}")).unwrap();
            assert_eq!(subject(&map(claims)), None);
        }
    }

    #[test]
    fn an_address_is_verified_by_who_named_it() {
        let [a, b] = ["a@example.org", "b@example.org"];
        for (token, info, email, verified) in [
            (
                json!({}),
                json!({"email": a, "email_verified": true}),
                json!(a),
                json!(true),
            ),
            (
                json!({"email": a}),
                json!({"email": a, "email_verified": true}),
                json!(a),
                json!(true),
            ),
            (
                json!({"email": a}),
                json!({"email_verified": true}),
                json!(a),
                json!(true),
            ),
            (
                json!({"email": a}),
                json!({"email": b, "email_verified": true}),
                json!(a),
                json!(null),
            ),
            (
                json!({"email": null, "email_verified": true}),
                json!({"email": b}),
                json!(b),
                json!(null),
            ),
            (
                json!({"email": a, "email_verified": false}),
                json!({"email": a, "email_verified": true}),
                json!(a),
                json!(false),
            ),
        ] {
            let mut claims = map(token);
            merge(&mut claims, map(info));
            let found = |name: &str| claims.get(name).cloned().unwrap_or_default();
            assert_eq!((found("email"), found("email_verified")), (email, verified));
        }
    }
}
