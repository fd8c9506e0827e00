//! Tests of the permission checks.

use domain::{GroupId, UserId};
use store::{AllGroups, PermissionRow};

use super::*;
use crate::identity::auth::Authority;

/// A server with these rules and one user, who is in the first of two groups.
struct House {
    known: Arc<GroupDirectory>,
    person: UserId,
}

impl House {
    /// Each rule has a kind, a name, whether it is for everybody, and the indices of its groups.
    fn with(rules: &[(&str, &str, Option<bool>, &[usize])]) -> Self {
        let groups = [GroupId::generate(), GroupId::generate()];
        let person = UserId::generate();
        let row =
            |(kind, name, everybody, of): &(&str, &str, Option<bool>, &[usize])| PermissionRow {
                kind: (*kind).to_owned(),
                name: (*name).to_owned(),
                everybody: *everybody,
                groups: of.iter().map(|at| groups[*at]).collect(),
            };
        let members = vec![(person, groups[0])];
        let permissions = rules.iter().map(row).collect();
        let all = AllGroups {
            number: 1,
            groups: Vec::new(),
            members,
            permissions,
        };
        Self {
            known: Arc::new(GroupDirectory::of(all, Default::default())),
            person,
        }
    }

    fn permit(&self, account: UserId, is_admin: bool) -> Permissions {
        Permissions::new(
            Arc::clone(&self.known),
            Arc::new(Authority::of_account(account)),
            is_admin,
        )
    }

    fn person(&self) -> Permissions {
        self.permit(self.person, false)
    }

    fn stranger(&self) -> Permissions {
        self.permit(UserId::generate(), false)
    }
}

#[test]
fn without_rules_all_is_everybodys() {
    let house = House::with(&[]);
    for thing in [
        Resource::Model("m"),
        Resource::Agent("a"),
        Resource::Tool("t"),
        Resource::Right(Right::Sharing),
    ] {
        assert!(
            house.person().allows(thing) && house.stranger().allows(thing),
            "{thing:?}"
        );
    }
}

#[test]
fn what_is_for_groups_is_for_those_alone() {
    let none = Some(false);
    let house = House::with(&[
        ("model", "large", none, &[0]),
        ("model", "theirs", none, &[1]),
        ("model", "nobodys", none, &[]),
        ("agent", "large", none, &[]),
    ]);
    let person = house.person();
    for (model, member, stranger) in [
        ("large", true, false),
        ("theirs", false, false),
        ("nobodys", false, false),
        ("other", true, true),
    ] {
        assert_eq!(person.allows(Resource::Model(model)), member, "{model}");
        assert_eq!(
            house.stranger().allows(Resource::Model(model)),
            stranger,
            "{model}"
        );
        assert!(
            house
                .permit(house.person, true)
                .allows(Resource::Model(model))
        );
    }
    assert!(
        !person.allows(Resource::Agent("large")),
        "a name is of its kind"
    );
}

#[test]
fn the_narrowest_rule_decides() {
    let yes = Some(true);
    let no = Some(false);
    let house = House::with(&[
        ("model", "*", no, &[0]),
        ("model", "small", yes, &[]),
        ("model", "secret", no, &[1]),
        ("tool", "crm__*", no, &[]),
        ("tool", "crm__read", None, &[0]),
        ("tool", "crm__help", yes, &[]),
        ("tool", "web__delete", no, &[]),
    ]);
    let person = house.person();
    let stranger = house.stranger();
    for (thing, member, other) in [
        (Resource::Model("any"), true, false),
        (Resource::Model("small"), true, true),
        (Resource::Model("secret"), false, false),
        (Resource::Model(TOUR), true, true),
        (Resource::Tool("crm__read"), true, false),
        (Resource::Tool("crm__help"), true, true),
        (Resource::Tool("crm__write"), false, false),
        (Resource::Tool("web__delete"), false, false),
        (Resource::Tool("web__get"), true, true),
        (Resource::Tool("crm"), true, true),
    ] {
        assert_eq!(
            (person.allows(thing), stranger.allows(thing)),
            (member, other),
            "{thing:?}"
        );
    }
    assert!(
        person.allows_server("crm")
            && stranger.allows_server("crm")
            && stranger.allows_server("web")
    );
    let shut = House::with(&[("tool", "crm__*", no, &[0]), ("tool", "crm__x", no, &[])]);
    assert!(shut.person().allows_server("crm") && !shut.stranger().allows_server("crm"));
}

#[test]
fn programs_need_their_right_too() {
    let house = House::with(&[
        ("right", "programs", Some(false), &[0]),
        ("tool", "shell", Some(true), &[]),
    ]);
    assert!(house.person().allows(Resource::Tool("shell")));
    assert!(
        !house.stranger().allows(Resource::Tool("shell"))
            && !house.stranger().allows(Resource::Tool("python"))
    );
    assert!(house.stranger().allows(Resource::Tool("read_file")));
    assert!(
        house.stranger().check(Right::Programs).is_err()
            && house.stranger().check(Right::Sharing).is_ok()
    );
}
