//! Who may read which documents of a collection: readers by ways to read, with what each finds.

use std::collections::BTreeSet;

use domain::{AuditEntryId, CollectionId, DocumentId, EntityId, GroupId, InvitationId, UserId};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use store::{
    AccountChange, AddressProof, AuditEntry, Collection, CollectionLimits, DocumentFilter,
    DocumentMetadata, DocumentReaders, FilterScope, GraphScope, Group, MetadataCondition,
    MetadataOrigin, MetadataValue, NewInvitation, NewPasswordReset, ReadersChange, Store,
    StoreError, UserRole,
};

use crate::{
    fixtures::new_user,
    graph::look,
    knowledge::{add, document, text},
};

on_every_database!(
    readers_find_their_documents,
    rights_change_at_once,
    addresses_are_proven
);
on_lasting_databases!(earlier_sign_ups_are_unproven, earlier_groups_are_folded);

const MISSING: StoreError = StoreError::NotFound;
const LIMITS: CollectionLimits = CollectionLimits {
    documents: 10,
    bytes: 1_000,
};
/// The documents by name, which is also an entity of the graph.
const DOCUMENTS: [&str; 6] = ["domain", "group", "nobody", "open", "person", "provider"];
/// An entity that all documents mention.
const HUB: &str = "hub";

async fn account(store: &Store, email: &str) -> UserId {
    store.create_user(&new_user(email)).await.unwrap().id
}

async fn group(store: &Store, name: &str, provider_name: Option<&str>, member: UserId) -> GroupId {
    let group = Group {
        id: GroupId::generate(),
        name: name.to_owned(),
        description: String::new(),
        provider_name: provider_name.map(str::to_owned),
        created_at: 1,
    };
    store.create_group(&group, 100).await.unwrap();
    store.add_group_members(group.id, &[member]).await.unwrap();
    group.id
}

fn readers(people: &[&str], groups: &[&str], domains: &[&str]) -> DocumentReaders {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    DocumentReaders {
        people: set(people),
        groups: set(groups),
        domains: set(domains),
    }
}

/// Adds a document that says `said`, for these readers.
async fn read(
    store: &Store,
    of: &Collection,
    name: &str,
    said: &str,
    readers: Option<DocumentReaders>,
) -> DocumentId {
    let new = document(of, name);
    let kept = store
        .put_document(of.owner, &new, b"hello", LIMITS)
        .await
        .unwrap();
    store
        .restrict_document(kept.id, readers.as_ref())
        .await
        .unwrap();
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    store
        .settle_document(&unread, &text(said), Some(1), 11)
        .await
        .unwrap();
    let metadata = DocumentMetadata {
        tags: vec![name.to_owned()],
        fields: [(format!("of {name}"), vec![MetadataValue::Number(1.0)])].into(),
    };
    let set = store
        .set_metadata(kept.id, MetadataOrigin::Person, &metadata)
        .await;
    set.unwrap();
    look(store, said).await;
    kept.id
}

/// A collection of the owner with a document for each way to be a reader.
async fn collection(store: &Store, owner: UserId) -> Collection {
    let of = add(store, owner, "Work").await;
    store.set_graph(owner, of.id, true).await.unwrap();
    for (name, readers) in [
        ("open", None),
        (
            "person",
            Some(readers(
                &["Named@Partner.example", "late@partner.example"],
                &[],
                &[],
            )),
        ),
        ("group", Some(readers(&[], &["SALES"], &[]))),
        (
            "provider",
            Some(readers(&[], &["OKTA-ÖFFENTLICHKEIT Юристы"], &[])),
        ),
        (
            "domain",
            Some(readers(&[], &[], &["Corp.example", "c_rp.example"])),
        ),
        ("nobody", Some(DocumentReaders::default())),
    ] {
        read(store, &of, name, &format!("{HUB}-{name}"), readers).await;
    }
    of
}

/// Asserts that a reader finds exactly these documents, in every way.
async fn check(store: &Store, reader: UserId, of: &Collection, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
    let is_reader = store.readable_collection(reader, of.id).await.is_ok();
    let listed = store.readable_documents(reader, of.id).await.unwrap();
    let listed: BTreeSet<String> = listed.into_iter().map(|document| document.name).collect();
    assert_eq!(listed, expected, "the list");
    let all = store.documents(of.id).await.unwrap();
    let hidden = store.hidden_documents(reader, &[of.id]).await.unwrap();
    let filtered = store
        .filtered_documents(
            reader,
            &[of.id],
            &DocumentFilter::default(),
            FilterScope::Searchable,
        )
        .await
        .unwrap();
    for document in all {
        let is_expected = expected.contains(&document.name);
        let found = store.readable_document(reader, of.id, document.id).await;
        match is_expected {
            true => assert_eq!(found.as_ref(), Ok(&document)),
            false => assert_eq!(found, Err(MISSING), "{}", document.name),
        }
        if is_reader {
            assert_eq!(
                hidden.contains(&document.id),
                !is_expected,
                "{}",
                document.name
            );
            assert_eq!(
                filtered.contains(&(of.id, document.id)),
                is_expected,
                "{}",
                document.name
            );
        }
    }
    if is_reader {
        check_tags(store, reader, of.id, &expected).await;
    }
    let counts = store.collections(reader).await.unwrap();
    let count = counts.iter().find(|listed| listed.collection.id == of.id);
    assert_eq!(
        count.map(|listed| listed.documents),
        is_reader.then_some(expected.len() as u64)
    );
    if is_reader {
        check_graph(store, reader, of.id, &expected).await;
    }
}

/// Each document is tagged with its name.
async fn check_tags(store: &Store, reader: UserId, of: CollectionId, expected: &BTreeSet<String>) {
    let known = store.known_metadata(reader, &[of], 100).await.unwrap();
    let tags: BTreeSet<String> = known.tags.into_iter().map(|tag| tag.value).collect();
    assert_eq!(&tags, expected, "the tags");
    let keys: BTreeSet<String> = known.keys.into_iter().map(|key| key.key).collect();
    assert_eq!(
        keys,
        expected.iter().map(|name| format!("of {name}")).collect(),
        "the keys"
    );
    let values = store
        .known_values(reader, &[of], "of nobody", "", 9)
        .await
        .unwrap();
    assert_eq!(
        values.is_empty(),
        !expected.contains("nobody"),
        "the values"
    );
    for name in DOCUMENTS {
        let filter = DocumentFilter {
            metadata: vec![MetadataCondition::Tag(vec![name.to_owned()])],
            ..DocumentFilter::default()
        };
        let scope = FilterScope::Searchable;
        let found = store
            .filtered_documents(reader, &[of], &filter, scope)
            .await
            .unwrap();
        assert_eq!(found.len(), usize::from(expected.contains(name)), "{name}");
    }
}

async fn check_graph(store: &Store, reader: UserId, of: CollectionId, expected: &BTreeSet<String>) {
    let scope = store.graph_scope(reader, of).await.unwrap();
    assert_eq!(scope.is_whole(), expected.len() == DOCUMENTS.len());
    let (_, progress) = store.graph_state(&scope).await.unwrap();
    let progress: BTreeSet<String> = progress.into_iter().map(|one| one.name).collect();
    assert_eq!(&progress, expected, "the progress");
    let mut entities = expected.clone();
    entities.insert(HUB.to_owned());
    let found = store.entities(&scope, "", 100).await.unwrap();
    let names: BTreeSet<String> = found.iter().map(|entity| entity.name.clone()).collect();
    assert_eq!(names, entities, "the entities");
    let hub = store.entity_named(&scope, HUB).await.unwrap();
    let count = expected.len() as u64;
    assert_eq!((hub.mentions, hub.relations), (count, count), "the counts");
    let (_, quotes) = store.entity(&scope, hub.id, 100).await.unwrap();
    let quoted: BTreeSet<String> = quotes.into_iter().map(|quote| quote.name).collect();
    assert_eq!(&quoted, expected, "the quotes");
    for graph in [
        store.subgraph(&scope, 100).await.unwrap(),
        store.neighbours(&scope, hub.id, 2, 100).await.unwrap(),
    ] {
        let names: BTreeSet<String> = graph.entities.into_iter().map(|it| it.name).collect();
        let proofs: BTreeSet<String> = graph
            .relations
            .into_iter()
            .map(|it| it.quote.name)
            .collect();
        assert_eq!((&names, &proofs), (&entities, expected), "the neighbours");
    }
    let whole = GraphScope::whole(of);
    let open = store.entity_named(&whole, "open").await.unwrap().id;
    for name in DOCUMENTS {
        let id = store.entity_named(&whole, name).await.unwrap().id;
        check_entity(store, &scope, id, open, expected.contains(name)).await;
    }
}

/// Asserts whether an entity exists in a scope, and a path to it.
async fn check_entity(
    store: &Store,
    scope: &GraphScope,
    id: EntityId,
    open: EntityId,
    exists: bool,
) {
    assert_eq!(store.entity(scope, id, 1).await.is_ok(), exists);
    assert_eq!(store.neighbours(scope, id, 1, 9).await.is_ok(), exists);
    assert_eq!(
        store.among(scope, &[id]).await.unwrap().entities.len(),
        usize::from(exists)
    );
    let path = store.path(scope, open, id, 6).await;
    match exists {
        false => assert_eq!(path, Err(MISSING)),
        true => assert_eq!(path.unwrap().entities.len(), if id == open { 1 } else { 3 }),
    }
}

async fn readers_find_their_documents(store: Store) {
    let owner = account(&store, "ada@other.example").await;
    let named = account(&store, "NAMED@partner.example").await;
    let member = account(&store, "member@other.example").await;
    group(&store, "Sales", None, member).await;
    let provided = account(&store, "provided@other.example").await;
    group(
        &store,
        "Legal",
        Some("Okta-öffentlichkeit ЮРИСТЫ"),
        provided,
    )
    .await;
    let colleague = account(&store, "somebody@CORP.example").await;
    // Neither another domain with the same end, nor a part of it, nor one that a pattern would match.
    let alike = account(&store, "somebody@evilcorp.example").await;
    let below = account(&store, "somebody@sub.corp.example").await;
    let pattern = account(&store, "somebody@carp.example").await;
    let other = account(&store, "other@other.example").await;
    let admin = new_user("admin@other.example");
    let admin = store::NewUser {
        role: UserRole::Admin,
        ..admin
    };
    let admin = store.create_user(&admin).await.unwrap().id;
    let unproven = new_user("late@partner.example");
    let unproven = store.sign_up_user(&unproven).await.unwrap().id;
    let stranger = account(&store, "stranger@corp.example").await;
    let of = collection(&store, owner).await;
    let change = ReadersChange {
        people: vec![
            named, member, provided, colleague, alike, below, pattern, other, admin, unproven,
        ],
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    for (reader, expected) in [
        (owner, &DOCUMENTS[..]),
        (named, &["open", "person"]),
        (member, &["group", "open"]),
        (provided, &["open", "provider"]),
        (colleague, &["domain", "open"]),
        (alike, &["open"]),
        (below, &["open"]),
        (pattern, &["open"]),
        (other, &["open"]),
        (admin, &["open"]),
        (unproven, &["open"]),
        (stranger, &[]),
    ] {
        check(&store, reader, &of, expected).await;
    }
}

async fn rights_change_at_once(store: Store) {
    let owner = account(&store, "ada@other.example").await;
    let reader = account(&store, "bob@other.example").await;
    let sales = group(&store, "Sales", None, reader).await;
    let of = collection(&store, owner).await;
    let change = ReadersChange {
        people: vec![reader],
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    check(&store, reader, &of, &["group", "open"]).await;
    store.remove_group_member(sales, reader).await.unwrap();
    check(&store, reader, &of, &["open"]).await;
    let change = AccountChange {
        email: Some("bob@corp.example".to_owned()),
        ..AccountChange::default()
    };
    store.change_account(reader, &change, 6).await.unwrap();
    check(&store, reader, &of, &["domain", "open"]).await;
    // Names that mean the same do not reveal each other.
    let whole = GraphScope::whole(of.id);
    let open = store.entity_named(&whole, "open").await.unwrap().id;
    let nobody = store.entity_named(&whole, "nobody").await.unwrap().id;
    assert!(
        store
            .merge_entities(owner, of.id, nobody, open)
            .await
            .unwrap()
    );
    let scope = store.graph_scope(reader, of.id).await.unwrap();
    assert_eq!(store.graph_aliases(&scope).await, Ok(Vec::new()));
    let found = store.entities(&scope, "", 100).await.unwrap();
    let names: BTreeSet<&str> = found.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["domain", HUB, "open"]));
    assert_eq!(store.graph_aliases(&whole).await.unwrap().len(), 1);
    let entity = store.entity_named(&whole, "open").await.unwrap();
    assert_eq!((entity.name.as_str(), entity.mentions), ("nobody", 2));
    store.part_entity(owner, of.id, open).await.unwrap();
    // With all documents open, and with all restricted.
    let all = store.documents(of.id).await.unwrap();
    for document in &all {
        store.restrict_document(document.id, None).await.unwrap();
    }
    check(&store, reader, &of, &DOCUMENTS).await;
    let nobody = DocumentReaders::default();
    for document in &all {
        let restricted = store.restrict_document(document.id, Some(&nobody)).await;
        restricted.unwrap();
    }
    assert_eq!(
        store.readable_documents(reader, of.id).await,
        Ok(Vec::new())
    );
    let with_graph = store.collections_with_graph(reader).await.unwrap();
    assert!(!with_graph.contains(&of.id), "an empty graph is none");
    check(&store, owner, &of, &DOCUMENTS).await;
}

/// Whether an address finds an account for a document.
async fn is_proven(store: &Store, of: &Collection, document: DocumentId, user: UserId) -> bool {
    let found = store.readable_document(user, of.id, document).await;
    assert!(found.is_ok() || found == Err(MISSING));
    found.is_ok()
}

async fn addresses_are_proven(store: Store) {
    let owner = account(&store, "ada@other.example").await;
    let of = add(&store, owner, "Work").await;
    store.set_graph(owner, of.id, true).await.unwrap();
    let everybody = readers(&[], &[], &["corp.example"]);
    let document = read(&store, &of, "a", "x", Some(everybody)).await;
    let change = ReadersChange {
        open: true,
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    let proven = async |user| is_proven(&store, &of, document, user).await;
    let sign_up = async |name: &str| {
        let user = new_user(&format!("{name}@corp.example"));
        store.sign_up_user(&user).await.unwrap().id
    };

    assert!(proven(account(&store, "made@corp.example").await).await);
    let user = sign_up("one").await;
    assert!(!proven(user).await);
    store.prove_address(user, "two@corp.example").await.unwrap();
    assert!(!proven(user).await, "another address");
    store.prove_address(user, "ONE@corp.example").await.unwrap();
    assert!(proven(user).await);

    let user = sign_up("two").await;
    let rename = AccountChange {
        name: Some("Two".to_owned()),
        ..AccountChange::default()
    };
    store.change_account(user, &rename, 6).await.unwrap();
    assert!(!proven(user).await, "a name is no address");
    let confirm = AccountChange {
        email: Some("two@corp.example".to_owned()),
        ..AccountChange::default()
    };
    store.change_account(user, &confirm, 7).await.unwrap();
    assert!(proven(user).await);

    let user = sign_up("three").await;
    let reset = |number| NewPasswordReset {
        user,
        token_hash: [number; 32],
        expires_at: 100,
    };
    store.put_password_reset(&reset(1)).await.unwrap();
    store.reset_password(&[1; 32], "hash", 8).await.unwrap();
    assert!(!proven(user).await, "a link that was not mailed");
    assert!(store.request_password_reset(&reset(2), 0).await.unwrap());
    store.reset_password(&[2; 32], "hash", 9).await.unwrap();
    assert!(proven(user).await);

    for (number, email, expected) in [
        (3, None, false),
        (4, Some("Invited4@corp.example".to_owned()), true),
    ] {
        let invitation = NewInvitation {
            id: InvitationId::generate(),
            token_hash: [number; 32],
            email,
            most_uses: 1,
            role: UserRole::User,
            groups: Vec::new(),
            created_at: 1,
            expires_at: 100,
        };
        store.create_invitation(&invitation).await.unwrap();
        let user = new_user(&format!("invited{number}@corp.example"));
        let invited = store.create_invited_user(&user, &[number; 32], 2).await;
        assert_eq!(proven(invited.unwrap().user.id).await, expected);
    }

    for (subject, proof) in [("5", AddressProof::Proven), ("6", AddressProof::Unproven)] {
        let user = new_user(&format!("provided{subject}@corp.example"));
        let made = store.create_user_with_identity(&user, proof, "https://id.example", subject);
        let id = made.await.unwrap().user.id;
        assert_eq!(proven(id).await, proof == AddressProof::Proven);
    }
}

fn sign_up_entry(user: UserId, details: serde_json::Value) -> AuditEntry {
    AuditEntry {
        id: AuditEntryId::generate(),
        at: 1,
        actor: Some(user),
        actor_email: None,
        key: None,
        address: None,
        request: None,
        action: "user.sign_up".to_owned(),
        subject: None,
        subject_name: None,
        details: details.as_object().filter(|it| !it.is_empty()).cloned(),
    }
}

async fn earlier_sign_ups_are_unproven(url: String) {
    let store = Store::open(&url).await.unwrap();
    let [alone, invited, anyhow, edited, made] = ["alone", "invited", "anyhow", "edited", "made"];
    let mut ids = Vec::new();
    for name in [alone, invited, anyhow, edited, made] {
        ids.push(account(&store, &format!("{name}@corp.example")).await);
    }
    let mut invitations = Vec::new();
    for (number, email) in [(1, Some("Invited@corp.example")), (2, None)] {
        let invitation = NewInvitation {
            id: InvitationId::generate(),
            token_hash: [number; 32],
            email: email.map(str::to_owned),
            most_uses: 1,
            role: UserRole::User,
            groups: Vec::new(),
            created_at: 1,
            expires_at: 100,
        };
        store.create_invitation(&invitation).await.unwrap();
        invitations.push(invitation.id);
    }
    for (user, details) in [
        (ids[0], json!({})),
        (ids[1], json!({"invitation": invitations[0]})),
        (ids[2], json!({"invitation": invitations[1]})),
        (ids[3], json!({})),
    ] {
        store
            .add_to_audit(&sign_up_entry(user, details))
            .await
            .unwrap();
    }
    let change = AuditEntry {
        action: "user.change".to_owned(),
        actor: None,
        subject: Some(ids[3].to_string()),
        ..sign_up_entry(ids[3], json!({"email": "edited@corp.example"}))
    };
    store.add_to_audit(&change).await.unwrap();
    store.close().await;

    // The step marks what is there when it is taken.
    let [sqlite, postgres] = [
        include_str!("../../migrations/sqlite/0065_unproven_addresses.sql"),
        include_str!("../../migrations/postgres/0065_unproven_addresses.sql"),
    ]
    .map(|step| &step[step.find("UPDATE users").unwrap()..]);
    let listed = "SELECT email_key FROM users WHERE email_unproven ORDER BY email_key";
    let found: Vec<String> = if url.starts_with("postgres") {
        let mut rows = PgConnection::connect(&url).await.unwrap();
        rows.execute(AssertSqlSafe(postgres)).await.unwrap();
        sqlx::query_scalar(listed)
            .fetch_all(&mut rows)
            .await
            .unwrap()
    } else {
        let mut rows = SqliteConnection::connect(&url).await.unwrap();
        rows.execute(AssertSqlSafe(sqlite)).await.unwrap();
        sqlx::query_scalar(listed)
            .fetch_all(&mut rows)
            .await
            .unwrap()
    };
    assert_eq!(found, ["alone@corp.example", "anyhow@corp.example"]);
}

/// A group that an earlier version stored, when databases folded the provider's names: ASCII letters only.
async fn earlier_groups_are_folded(url: String) {
    let store = Store::open(&url).await.unwrap();
    let owner = account(&store, "ada@other.example").await;
    let member = account(&store, "bob@other.example").await;
    group(&store, "Legal", Some("ЮРИСТЫ"), member).await;
    let of = add(&store, owner, "Work").await;
    store.set_graph(owner, of.id, true).await.unwrap();
    let restricted = readers(&[], &["Юристы"], &[]);
    let document = read(&store, &of, "a", "x", Some(restricted)).await;
    let change = ReadersChange {
        open: true,
        ..ReadersChange::default()
    };
    store
        .set_collection_readers(of.id, &change, 5)
        .await
        .unwrap();
    assert!(is_proven(&store, &of, document, member).await);
    store.close().await;

    let unfold = "UPDATE user_groups SET provider_key = provider_name";
    if url.starts_with("postgres") {
        let mut rows = PgConnection::connect(&url).await.unwrap();
        rows.execute(unfold).await.unwrap();
    } else {
        let mut rows = SqliteConnection::connect(&url).await.unwrap();
        rows.execute(unfold).await.unwrap();
    }
    let store = Store::open(&url).await.unwrap();
    assert!(is_proven(&store, &of, document, member).await);
}
