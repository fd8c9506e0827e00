//! Who may read a collection beside its owner.

use domain::{CollectionId, GroupId, UserId};
use store::{Group, ReadersChange, Store, StoreError};

use crate::{fixtures::add_user, knowledge::add};

on_every_database!(
    is_shared_by_name,
    is_shared_with_groups,
    sharing_ignores_deleted_accounts
);

const MISSING: StoreError = StoreError::NotFound;

pub(crate) async fn group(store: &Store, name: &str, members: &[UserId]) -> GroupId {
    let group = Group {
        id: GroupId::generate(),
        name: name.to_owned(),
        description: String::new(),
        provider_name: None,
        created_at: 1,
    };
    store.create_group(&group, 100).await.unwrap();
    store.add_group_members(group.id, members).await.unwrap();
    group.id
}

/// Whether every way to read says the same, and what.
async fn reads(store: &Store, reader: UserId, id: CollectionId) -> bool {
    let one = store.readable_collection(reader, id).await;
    let is_one = one.is_ok();
    assert!(is_one || one == Err(MISSING));
    let searched = store.searchable_collections(reader).await.unwrap();
    assert_eq!(
        searched.iter().any(|collection| collection.id == id),
        is_one
    );
    let listed = store.collections(reader).await.unwrap();
    assert_eq!(
        listed.iter().any(|listed| listed.collection.id == id),
        is_one
    );
    is_one
}

async fn is_shared_by_name(store: Store) {
    let owner = add_user(&store).await;
    let reader = add_user(&store).await;
    let other = add_user(&store).await;
    let of = add(&store, owner, "Work").await;
    let beside = add(&store, owner, "Beside").await;
    assert_eq!(
        store.collection_readers(of.id).await,
        Ok(store::CollectionReaders::default())
    );
    let change = ReadersChange {
        people: vec![reader, reader],
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    assert!(reads(&store, reader, of.id).await && !reads(&store, other, of.id).await);
    assert!(
        !reads(&store, reader, beside.id).await,
        "another collection of the same owner"
    );
    let listed = store.collections(owner).await.unwrap();
    assert_eq!(
        listed.iter().map(|it| it.shared).collect::<Vec<_>>(),
        [false, true],
        "by name"
    );
    // Who stays keeps the place in the list.
    let change = ReadersChange {
        people: vec![other, reader],
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 6)
        .await
        .unwrap();
    let people = store.collection_readers(of.id).await.unwrap().people;
    assert_eq!(
        people.iter().map(|user| user.id).collect::<Vec<_>>(),
        [reader, other]
    );
    let change = ReadersChange {
        people: vec![other],
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 7)
        .await
        .unwrap();
    assert!(!reads(&store, reader, of.id).await && reads(&store, other, of.id).await);
    // To read is not to own.
    assert_eq!(store.delete_collection(other, of.id).await, Err(MISSING));
    store.delete_collection(owner, of.id).await.unwrap();
    assert_eq!(store.collection_readers(of.id).await, Err(MISSING));
    assert_eq!(
        store.set_collection_readers(of.id, &change, 8).await,
        Err(MISSING)
    );
}

async fn is_shared_with_groups(store: Store) {
    let owner = add_user(&store).await;
    let one = add_user(&store).await;
    let other = add_user(&store).await;
    let of = add(&store, owner, "Work").await;
    let sales = group(&store, "Sales", &[one]).await;
    let legal = group(&store, "Legal", &[one]).await;
    let change = ReadersChange {
        groups: vec![sales, legal],
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    assert!(reads(&store, one, of.id).await && !reads(&store, other, of.id).await);
    let groups = store.collection_readers(of.id).await.unwrap().groups;
    assert_eq!(
        groups,
        [(legal, "Legal".to_owned()), (sales, "Sales".to_owned())]
    );
    assert_eq!(
        store.searchable_collections(one).await.unwrap().len(),
        1,
        "once, whatever the ways to it"
    );
    // It follows who is in the group.
    store.add_group_members(sales, &[other]).await.unwrap();
    assert!(reads(&store, other, of.id).await);
    store.remove_group_member(sales, other).await.unwrap();
    assert!(!reads(&store, other, of.id).await);
    store.delete_group(sales).await.unwrap();
    assert!(reads(&store, one, of.id).await, "by the other group");
    store.delete_group(legal).await.unwrap();
    assert!(
        !reads(&store, one, of.id).await,
        "a group that is gone lets nobody in"
    );
    assert_eq!(store.collection_readers(of.id).await.unwrap().groups, []);
}

async fn sharing_ignores_deleted_accounts(store: Store) {
    let owner = add_user(&store).await;
    let of = add(&store, owner, "Work").await;
    let change = ReadersChange {
        open: true,
        groups: vec![GroupId::generate()],
        people: vec![UserId::generate()],
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    let now = store.collection_readers(of.id).await.unwrap();
    assert!(now.open && now.groups.is_empty() && now.people.is_empty());
    assert!(
        reads(&store, add_user(&store).await, of.id).await,
        "it is open"
    );
}
