//! Copies of the whole database: what was in it is in the other, whichever of the two each of them is.

use std::convert::Infallible;

use domain::RunId;
use store::{
    AddressProof, Datum, NewUser, Part, Restored, Store, StoreError, UserRole, dump, restore,
};

use crate::{
    database::{Folder, with_postgres},
    fixtures::{add_chat, add_run, add_user, new_turn, segment},
    groups::{only_for, sample},
};

on_lasting_databases!(a_copy_has_everything, a_copy_is_of_one_moment);

/// Something in many tables: texts of all kinds, bytes, numbers, nothing, and rows that name each other.
async fn fill(store: &Store) -> RunId {
    let ann = add_user(store).await;
    let chat = add_chat(store, ann, "Заголовок “with” '\"\\\u{fffd}\n", 1).await;
    let turn = new_turn(&chat, None, "вопрос", 5);
    store.begin_turn(&turn).await.unwrap();
    let run = turn.run.id;
    store.append(segment(run, 1, 3)).await.unwrap();
    for content in [&b"one"[..], &[0, 255, 10, 13], b""] {
        store
            .write_file(&chat.id.to_string(), "/a.bin", content, None, 7)
            .await
            .unwrap();
    }
    store
        .delete_file(&chat.id.to_string(), "/a.bin", None, 8)
        .await
        .unwrap();
    store
        .put_setting("a", &serde_json::json!({"b": [1, null]}))
        .await
        .unwrap();
    let user = NewUser {
        id: domain::UserId::generate(),
        email: "bob@example.org".to_owned(),
        name: "Bob".to_owned(),
        role: UserRole::User,
        password_hash: "!".to_owned(),
        created_at: i64::MAX,
    };
    store
        .create_user_with_identity(&user, AddressProof::Proven, "https://id.example", "7")
        .await
        .unwrap();
    let group = sample("Редакция", Some("editors"));
    store.create_group(&group, 10).await.unwrap();
    store
        .add_group_members(group.id, &[ann, user.id])
        .await
        .unwrap();
    store
        .sync_provider_groups(ann, &["editors".to_owned()])
        .await
        .unwrap();
    let row = only_for("model", "large", &[group.id]);
    store.put_permission(&row, 10).await.unwrap();
    run
}

async fn parts_of(url: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    dump(url, None, |part| {
        parts.push(part);
        Ok(())
    })
    .await
    .unwrap();
    parts
}

/// The rows in an order that both databases agree on, each with its table and the names of its columns.
fn sorted(parts: &[Part]) -> Vec<String> {
    let mut at = (String::new(), Vec::new());
    let mut rows = Vec::new();
    for part in parts {
        match part {
            Part::Schema(schema) => rows.push(format!("{schema}")),
            Part::Table { name, columns } => at = (name.clone(), columns.clone()),
            Part::Damaged(damage) => panic!("{damage}"),
            Part::Row(row) => {
                let mut values: Vec<_> = at.1.iter().zip(row).collect();
                values.sort_by_key(|(column, _)| *column);
                rows.push(format!("{} {values:?}", at.0));
            }
        }
    }
    rows.sort();
    rows
}

async fn put(url: &str, parts: &[Part]) -> Result<Restored, StoreError> {
    restore(url, parts.iter().cloned().map(Ok::<_, Infallible>)).await
}

async fn a_copy_has_everything(url: String) {
    let store = Store::open(&url).await.unwrap();
    let run = fill(&store).await;
    store.close().await;
    let parts = parts_of(&url).await;
    let check = move |target: String| async move {
        let restored = put(&target, &parts).await.unwrap();
        let rows = parts
            .iter()
            .filter(|part| matches!(part, Part::Row(_)))
            .count();
        assert_eq!(restored.rows, rows as u64);
        assert!(rows > 10, "{rows}");
        assert_eq!(sorted(&parts_of(&target).await), sorted(&parts));
        // It is a database like any other: what comes next gets numbers of its own.
        let store = Store::open(&target).await.unwrap();
        assert_eq!(store.run(run).await.unwrap().last_seq, 3);
        store.append(segment(run, 4, 5)).await.unwrap();
        let groups = store.all_groups().await.unwrap();
        assert_eq!(
            (
                groups.members.len(),
                &*groups.permissions[0].name,
                groups.number
            ),
            (2, "large", 4)
        );
        store.delete_group(groups.groups[0].id).await.unwrap();
        let owner = store.run(run).await.unwrap().principal.account;
        let next = add_run(&store, owner).await;
        store.append(segment(next, 1, 1)).await.unwrap();
        assert_eq!(store.run(next).await.unwrap().last_seq, 1);
        store
            .delete_chat(owner, store.run(run).await.unwrap().chat.unwrap())
            .await
            .unwrap();
        assert_eq!(
            store.run(run).await,
            Err(StoreError::NotFound),
            "what belongs to a chat goes with it"
        );
        store.close().await;
        assert_eq!(
            put(&target, &parts).await,
            Err(StoreError::Conflict("not empty"))
        );
    };
    let folder = Folder::new();
    check.clone()(folder.url() + "?mode=rwc").await;
    with_postgres(check).await;
}

async fn a_copy_is_of_one_moment(url: String) {
    let store = Store::open(&url).await.unwrap();
    let run = fill(&store).await;
    let mut parts = Vec::new();
    let writer = store.clone();
    let runtime = tokio::runtime::Handle::current();
    let mut wrote = None;
    dump(&url, None, |part| {
        // While it is being read, a run goes on and another begins, which must not wait.
        if matches!(&part, Part::Table { .. }) && wrote.is_none() {
            let writer = writer.clone();
            wrote = Some(runtime.spawn(async move {
                writer.append(segment(run, 4, 9)).await.unwrap();
                add_user(&writer).await;
            }));
        }
        parts.push(part);
        Ok(())
    })
    .await
    .unwrap();
    wrote.unwrap().await.unwrap();
    let folder = Folder::new();
    let target = folder.url() + "?mode=rwc";
    put(&target, &parts).await.unwrap();
    let copy = Store::open(&target).await.unwrap();
    let last = copy.run(run).await.unwrap().last_seq;
    let people = copy.accounts().await.unwrap().len();
    assert!(
        [(3, 2), (9, 3), (9, 2)].contains(&(last, people)),
        "{last} {people}"
    );
    copy.close().await;
    store.close().await;
}

#[tokio::test]
async fn a_failed_restore_leaves_nothing() {
    let source = Folder::new();
    let store = Store::open(&(source.url() + "?mode=rwc")).await.unwrap();
    fill(&store).await;
    store.close().await;
    let parts = parts_of(&source.url()).await;
    let users = parts
        .iter()
        .position(|part| matches!(part, Part::Table { name, .. } if name == "users"))
        .unwrap();
    let with = |at: usize, part: Part| {
        let mut parts = parts.clone();
        parts[at] = part;
        parts
    };
    let Part::Row(user) = parts[users + 1].clone() else {
        panic!("no user")
    };
    let columns = |name: &str| Part::Table {
        name: name.to_owned(),
        columns: vec!["id".to_owned()],
    };
    let is_corrupt =
        |outcome: &Result<Restored, StoreError>| matches!(outcome, Err(StoreError::Corrupt(_)));
    for (wrong, what) in [
        (vec![], "nothing"),
        (parts[1..].to_vec(), "no schema"),
        (with(0, Part::Schema(0)), "no step"),
        (with(0, Part::Schema(-1)), "fewer than none"),
        (with(1, Part::Row(vec![])), "a row without a table"),
        (
            with(users, columns("users\"; DROP TABLE users; --")),
            "no table of that name",
        ),
        (
            with(
                users,
                Part::Table {
                    name: "users".to_owned(),
                    columns: vec!["odd".to_owned()],
                },
            ),
            "no such column",
        ),
        (
            with(
                users,
                Part::Table {
                    name: "users".to_owned(),
                    columns: vec![],
                },
            ),
            "no columns",
        ),
        (
            with(users + 1, Part::Row(vec![Datum::Null])),
            "too few values",
        ),
        (
            with(users + 1, Part::Row(vec![Datum::Boolean(true); user.len()])),
            "values of another kind",
        ),
        (with(users + 1, Part::Schema(1)), "a second schema"),
        (
            [&parts[..=users], &parts[users + 3..]].concat(),
            "rows of people who are not there",
        ),
    ] {
        let target = Folder::new();
        let url = target.url() + "?mode=rwc";
        let outcome = put(&url, &wrong).await;
        assert!(is_corrupt(&outcome), "{what}: {outcome:?}");
        let store = Store::open(&url).await.unwrap();
        assert!(!store.has_users().await.unwrap(), "{what}");
        store.close().await;
        put(&url, &parts)
            .await
            .unwrap_or_else(|error| panic!("after {what}: {error}"));
    }
    let target = Folder::new();
    let newer = put(
        &(target.url() + "?mode=rwc"),
        &with(0, Part::Schema(10_000)),
    )
    .await;
    assert_eq!(newer, Err(StoreError::Conflict("newer")));
    let twice = [&parts[..users + 2], &parts[users + 1..]].concat();
    let target = Folder::new();
    assert_eq!(
        put(&(target.url() + "?mode=rwc"), &twice).await,
        Err(StoreError::Conflict("id"))
    );
    let stops = parts[..users + 2]
        .iter()
        .cloned()
        .map(Ok)
        .chain([Err("the file ends here")]);
    let target = Folder::new();
    assert!(is_corrupt(
        &restore(&(target.url() + "?mode=rwc"), stops).await
    ));
}
