//! Decodes a page of a person's groups, from Microsoft Graph or an endpoint that repeats the claim.

use serde_json::Value;

/// One page of groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupPage {
    /// The groups by id, as in the claim.
    pub groups: Vec<String>,
    /// The URL of the next page.
    pub next: Option<String>,
}

/// Decodes a page: a list under `value`, as in Microsoft Graph, or under the claim's own name. A group is a string or
/// an object with an `id`. `None` if there is no list, or if one of its groups is invalid: half a list would end the
/// memberships in the other half.
#[must_use]
pub fn decode(answer: &Value, claim: &[String]) -> Option<GroupPage> {
    let claimed = || claim.iter().try_fold(answer, |place, name| place.get(name));
    let list = answer.get("value").or_else(claimed)?.as_array()?;
    let group = |group: &Value| {
        group
            .as_str()
            .or_else(|| group.get("id")?.as_str())
            .map(str::to_owned)
    };
    let groups = list.iter().map(group).collect::<Option<_>>()?;
    let next = match answer.get("@odata.nextLink") {
        None | Some(Value::Null) => None,
        Some(next) => Some(next.as_str()?.to_owned()),
    };
    Some(GroupPage { groups, next })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(answer: Value, expected: Option<(&[&str], Option<&str>)>) {
        let page = decode(&answer, &["groups".to_owned()]);
        let page = page.as_ref().map(|page| {
            (
                page.groups.iter().map(String::as_str).collect(),
                page.next.as_deref(),
            )
        });
        assert_eq!(
            page,
            expected.map(|(groups, next)| (groups.to_vec(), next)),
            "{answer}"
        );
    }

    #[test]
    fn pages_of_directories() {
        // POST /me/getMemberObjects
        let context = "https://graph.microsoft.com/v1.0/$metadata#Collection(Edm.String)";
        check(
            json!({"@odata.context": context, "value": ["fee2c45b-915a", "59265b4a-1cf1"]}),
            Some((&["fee2c45b-915a", "59265b4a-1cf1"], None)),
        );
        // GET /me/transitiveMemberOf
        let next = "https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$skiptoken=RFNwdAoAAQ";
        check(
            json!({"value": [
                {"@odata.type": "#microsoft.graph.group", "id": "45b7d2e7", "displayName": "All users"},
                {"@odata.type": "#microsoft.graph.directoryRole", "id": "94fbbfd1"},
            ], "@odata.nextLink": next}),
            Some((&["45b7d2e7", "94fbbfd1"], Some(next))),
        );
        // The claim, as user info and distributed claims have it.
        check(
            json!({"sub": "7", "groups": ["a", "b"]}),
            Some((&["a", "b"], None)),
        );
        check(json!({"value": []}), Some((&[], None)));
        // Lists that may be incomplete.
        check(
            json!({"error": {"code": "Authorization_RequestDenied"}}),
            None,
        );
        check(json!({"value": ["a", {"displayName": "no id"}]}), None);
        check(json!({"value": ["a"], "@odata.nextLink": 7}), None);
        check(json!({"value": "a"}), None);
        check(json!([]), None);
        check(Value::Null, None);
    }
}
