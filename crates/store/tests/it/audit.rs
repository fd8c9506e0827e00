//! The audit log.

use domain::{ApiKeyId, AuditEntryId, UserId};
use serde_json::json;
use store::{AuditEntry, AuditFilter, Store};

on_every_database!(
    keeps_every_field,
    finds_by_each_filter,
    takes_away_what_is_old
);

fn entry(at: i64, action: &str, email: &str) -> AuditEntry {
    AuditEntry {
        id: AuditEntryId::generate(),
        at,
        actor: Some(UserId::generate()),
        actor_email: Some(email.to_owned()),
        key: None,
        address: Some("192.0.2.7".to_owned()),
        request: Some(format!("req-{at}")),
        action: action.to_owned(),
        subject: None,
        subject_name: None,
        details: None,
    }
}

async fn keeps_every_field(store: Store) {
    let full = AuditEntry {
        key: Some(ApiKeyId::generate()),
        subject: Some("user_1".to_owned()),
        subject_name: Some("Änne".to_owned()),
        details: json!({"role": "admin", "was": null}).as_object().cloned(),
        ..entry(1, "user.change", "a@example.org")
    };
    let actor = None;
    let actor_email = None;
    let address = None;
    let request = None;
    let bare = AuditEntry {
        actor,
        actor_email,
        address,
        request,
        ..entry(2, "session.failed", "")
    };
    for entry in [&full, &bare] {
        store.add_to_audit(entry).await.unwrap();
    }
    assert_eq!(
        store.audit(&AuditFilter::default(), 10).await,
        Ok(vec![bare, full])
    );
}

async fn finds_by_each_filter(store: Store) {
    let mut all = Vec::new();
    for (at, action, email) in [
        (10, "user.create", "Ann@example.org"),
        (20, "user_.create", "bob@example.org"),
        (30, "key.create", "Жанна@example.org"),
    ] {
        let entry = entry(at, action, email);
        store.add_to_audit(&entry).await.unwrap();
        all.push(entry.id);
    }
    let found = async |filter: AuditFilter| -> Vec<i64> {
        store
            .audit(&filter, 10)
            .await
            .unwrap()
            .into_iter()
            .map(|entry| entry.at)
            .collect()
    };
    let text = |text: &str| AuditFilter {
        text: Some(text.to_owned()),
        ..AuditFilter::default()
    };
    let action = |action: &str| AuditFilter {
        action: Some(action.to_owned()),
        ..AuditFilter::default()
    };
    assert_eq!(found(text("EXAMPLE")).await, [30, 20, 10]);
    assert_eq!(found(text("жАННА")).await, [30]);
    assert_eq!(found(text("req-20")).await, [20]);
    assert_eq!(found(text("%")).await, [0; 0]);
    assert_eq!(found(action("user")).await, [20, 10]);
    assert_eq!(found(action("user.")).await, [10]);
    assert_eq!(
        found(action("create")).await,
        [0; 0],
        "only the beginning counts"
    );
    assert_eq!(found(action("user_")).await, [20], "nothing is a wildcard");
    assert_eq!(
        found(AuditFilter {
            from: Some(20),
            to: Some(30),
            ..AuditFilter::default()
        })
        .await,
        [20]
    );
    assert_eq!(
        found(AuditFilter {
            before: Some(all[1]),
            ..AuditFilter::default()
        })
        .await,
        [10]
    );
    let both = AuditFilter {
        before: Some(all[2]),
        ..text("bob")
    };
    assert_eq!(found(both).await, [20]);
    assert_eq!(
        store.audit(&AuditFilter::default(), 2).await.unwrap().len(),
        2
    );
}

async fn takes_away_what_is_old(store: Store) {
    for at in [1, 2, 3] {
        store
            .add_to_audit(&entry(at, "user.create", "a@example.org"))
            .await
            .unwrap();
    }
    assert_eq!(store.purge_audit(3).await, Ok(2));
    let left = store.audit(&AuditFilter::default(), 10).await.unwrap();
    assert_eq!(left.iter().map(|entry| entry.at).collect::<Vec<_>>(), [3]);
}
