//! Groups, who is in them, and what is only for some of them.

use domain::{GroupId, UserId};
use store::{AccountChange, Group, GroupMember, PermissionRow, Store, StoreError, UserRole};

use crate::fixtures::add_user;

on_every_database!(
    are_made_and_changed,
    people_come_and_go,
    the_provider_has_its_own_say,
    things_are_for_groups,
    many_are_in_one,
    administrators_are_known
);

pub(crate) fn sample(name: &str, provider_name: Option<&str>) -> Group {
    let name = name.to_owned();
    let provider_name = provider_name.map(str::to_owned);
    Group {
        id: GroupId::generate(),
        name,
        description: String::new(),
        provider_name,
        created_at: 5,
    }
}

pub(crate) fn only_for(kind: &str, name: &str, groups: &[GroupId]) -> PermissionRow {
    let kind = kind.to_owned();
    let name = name.to_owned();
    PermissionRow {
        kind,
        name,
        everybody: Some(false),
        groups: groups.to_vec(),
    }
}

async fn add(store: &Store, name: &str, provider_name: Option<&str>) -> Group {
    let group = sample(name, provider_name);
    store.create_group(&group, 100).await.unwrap();
    group
}

async fn people_in(store: &Store, group: &Group) -> Vec<(UserId, bool, bool)> {
    let members = store.group_members(group.id).await.unwrap();
    members
        .into_iter()
        .map(
            |GroupMember {
                 user,
                 by_hand,
                 by_provider,
                 ..
             }| (user, by_hand, by_provider),
        )
        .collect()
}

async fn are_made_and_changed(store: Store) {
    assert_eq!(
        store.all_groups().await.unwrap(),
        store::AllGroups::default()
    );
    let b = add(&store, "Бухгалтерия", None).await;
    let a = add(&store, "Art \0", None).await;
    let same = sample("бухгалтерия", None);
    assert_eq!(
        store.create_group(&same, 100).await,
        Err(StoreError::Conflict("name"))
    );
    assert_eq!(
        store.create_group(&sample("C", None), 2).await,
        Err(StoreError::Conflict("limit"))
    );
    let all = store.all_groups().await.unwrap();
    let a = Group {
        name: "Art \u{fffd}".to_owned(),
        ..a
    };
    assert_eq!(
        (all.groups, all.number),
        (vec![a.clone(), b.clone()], 2),
        "what failed changed nothing"
    );
    let renamed = Group {
        name: "Ledger".to_owned(),
        description: "Counts.".to_owned(),
        ..b.clone()
    };
    store.change_group(&renamed).await.unwrap();
    assert_eq!(
        store
            .change_group(&Group {
                name: "ART \u{fffd}".to_owned(),
                ..b.clone()
            })
            .await,
        Err(StoreError::Conflict("name"))
    );
    assert_eq!(
        store.change_group(&sample("D", None)).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.all_groups().await.unwrap().groups, [a, renamed]);
    store
        .put_setting(&format!("limits:group:{}", b.id), &1.into())
        .await
        .unwrap();
    store
        .put_setting(&format!("limits:group_total:{}", b.id), &1.into())
        .await
        .unwrap();
    assert_eq!(store.delete_group(b.id).await, Ok("Ledger".to_owned()));
    assert_eq!(store.delete_group(b.id).await, Err(StoreError::NotFound));
    assert_eq!(store.settings("limits:").await, Ok(Vec::new()));
    let all = store.all_groups().await.unwrap();
    assert_eq!((all.groups.len(), all.number), (1, 4));
}

async fn people_come_and_go(store: Store) {
    let group = add(&store, "G", None).await;
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    store
        .add_group_members(group.id, &[ann, bob])
        .await
        .unwrap();
    store.add_group_members(group.id, &[ann]).await.unwrap();
    let before = store.group_changes().await.unwrap();
    let nobody = UserId::generate();
    let refused = store.add_group_members(group.id, &[nobody]).await;
    assert_eq!(refused, Err(StoreError::Conflict("member")));
    let gone = GroupId::generate();
    assert_eq!(
        store.add_group_members(gone, &[ann]).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.group_members(gone).await, Err(StoreError::NotFound));
    assert_eq!(
        store.remove_group_member(group.id, nobody).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.group_changes().await,
        Ok(before),
        "nothing was changed"
    );
    assert_eq!(store.all_groups().await.unwrap().members.len(), 2);
    store.remove_group_member(group.id, ann).await.unwrap();
    assert_eq!(people_in(&store, &group).await, [(bob, true, false)]);
    let suspend = AccountChange {
        suspended: Some(true),
        ..AccountChange::default()
    };
    store.change_account(bob, &suspend, 9).await.unwrap();
    store.delete_account(bob).await.unwrap();
    assert_eq!(
        people_in(&store, &group).await,
        [],
        "who is gone is in no group"
    );
}

async fn the_provider_has_its_own_say(store: Store) {
    let one = add(&store, "One", Some("eng"));
    let two = add(&store, "Two", Some("ops"));
    let one = one.await;
    let two = two.await;
    let other = add(&store, "Other", None).await;
    let ann = add_user(&store).await;
    store.add_group_members(two.id, &[ann]).await.unwrap();
    store.add_group_members(other.id, &[ann]).await.unwrap();
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        store
            .sync_provider_groups(ann, &named(&["eng", "ops", "Other", "all"]))
            .await,
        Ok(true)
    );
    assert_eq!(people_in(&store, &one).await, [(ann, false, true)]);
    assert_eq!(people_in(&store, &two).await, [(ann, true, true)]);
    assert_eq!(
        people_in(&store, &other).await,
        [(ann, true, false)],
        "its name here is not its name there"
    );
    assert_eq!(
        store
            .sync_provider_groups(ann, &named(&["ops", "eng"]))
            .await,
        Ok(false)
    );
    assert_eq!(store.sync_provider_groups(ann, &[]).await, Ok(true));
    assert_eq!(people_in(&store, &one).await, []);
    assert_eq!(
        people_in(&store, &two).await,
        [(ann, true, false)],
        "what an administrator has said stays"
    );
    store
        .sync_provider_groups(ann, &named(&["eng"]))
        .await
        .unwrap();
    store
        .change_group(&Group {
            provider_name: Some("engineers".to_owned()),
            ..one.clone()
        })
        .await
        .unwrap();
    assert_eq!(
        people_in(&store, &one).await,
        [],
        "it is another group there"
    );
    store
        .sync_provider_groups(ann, &named(&["engineers"]))
        .await
        .unwrap();
    store.remove_group_member(one.id, ann).await.unwrap();
    assert_eq!(people_in(&store, &one).await, []);
}

async fn things_are_for_groups(store: Store) {
    let a = add(&store, "A", None).await;
    let b = add(&store, "B", None).await;
    let rows = async || store.all_groups().await.unwrap().permissions;
    let large = only_for("model", "large", &[a.id, b.id]);
    store.put_permission(&large, 10).await.unwrap();
    let rest = PermissionRow {
        everybody: Some(true),
        ..only_for("model", "*", &[])
    };
    store.put_permission(&rest, 10).await.unwrap();
    let one_tool = PermissionRow {
        everybody: None,
        ..only_for("tool", "crm__read", &[b.id])
    };
    store.put_permission(&one_tool, 10).await.unwrap();
    assert_eq!(
        rows().await,
        [rest.clone(), large.clone(), one_tool.clone()]
    );
    let nobody = only_for("model", "large", &[GroupId::generate()]);
    assert_eq!(
        store.put_permission(&nobody, 10).await,
        Err(StoreError::Conflict("group"))
    );
    assert_eq!(
        store
            .put_permission(&only_for("agent", "x", &[a.id]), 5)
            .await,
        Err(StoreError::Conflict("limit"))
    );
    assert_eq!(rows().await, [rest.clone(), large, one_tool.clone()]);
    store.delete_group(a.id).await.unwrap();
    store
        .put_permission(
            &PermissionRow {
                everybody: None,
                ..only_for("model", "*", &[])
            },
            10,
        )
        .await
        .unwrap();
    assert_eq!(
        rows().await,
        [only_for("model", "large", &[b.id]), one_tool]
    );
    store.delete_group(b.id).await.unwrap();
    assert_eq!(
        rows().await,
        [only_for("model", "large", &[])],
        "it does not become everybody's"
    );
}

async fn many_are_in_one(store: Store) {
    let group = add(&store, "All", None).await;
    let mut people = Vec::new();
    for _ in 0..600 {
        people.push(add_user(&store).await);
    }
    store.add_group_members(group.id, &people).await.unwrap();
    assert_eq!(store.group_members(group.id).await.unwrap().len(), 600);
    people.push(UserId::generate());
    let other = add(&store, "Other", None).await;
    assert_eq!(
        store.add_group_members(other.id, &people).await,
        Err(StoreError::Conflict("member"))
    );
    assert_eq!(
        store.group_members(other.id).await,
        Ok(Vec::new()),
        "all or none"
    );
}

async fn administrators_are_known(store: Store) {
    let ann = add_user(&store).await;
    let _ = add_user(&store).await;
    assert_eq!(store.administrators().await, Ok(Vec::new()));
    let change = AccountChange {
        role: Some(UserRole::Admin),
        ..AccountChange::default()
    };
    store.change_account(ann, &change, 9).await.unwrap();
    assert_eq!(store.administrators().await, Ok(vec![ann]));
}
