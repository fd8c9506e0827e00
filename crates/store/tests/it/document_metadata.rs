//! Tags and metadata of documents, and filters by them.

use std::collections::BTreeMap;

use domain::DocumentId;
use store::{
    Bounds, Collection, CollectionLimits, DocumentFilter, DocumentMetadata, FilterScope,
    MetadataChange, MetadataCondition, MetadataLimits, MetadataOrigin, MetadataTest, MetadataValue,
    ReadingResult, ShownMetadata, Store, StoreError, WantedRange, WantedValue,
};

use crate::{
    fixtures::add_user,
    knowledge::{add, document, text},
};

on_every_database!(
    people_win_over_files,
    changes_are_all_or_nothing,
    documents_are_filtered,
    values_are_counted,
    readings_replace_what_files_say
);

const LIMITS: CollectionLimits = CollectionLimits {
    documents: 50,
    bytes: 10_000,
};
const FEW: MetadataLimits = MetadataLimits { tags: 4, fields: 3 };

fn words(text: &str) -> Vec<MetadataValue> {
    vec![MetadataValue::Text(text.to_owned())]
}

fn day(shown: &str, ms: i64) -> Vec<MetadataValue> {
    let shown = shown.to_owned();
    vec![MetadataValue::Date { shown, ms }]
}

fn metadata(tags: &[&str], fields: &[(&str, Vec<MetadataValue>)]) -> DocumentMetadata {
    DocumentMetadata {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        fields: owned(fields),
    }
}

fn owned(fields: &[(&str, Vec<MetadataValue>)]) -> BTreeMap<String, Vec<MetadataValue>> {
    let fields = fields.iter().cloned();
    fields
        .map(|(key, values)| (key.to_owned(), values))
        .collect()
}

fn tags(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|&tag| tag.to_owned()).collect()
}

/// Adds a document that is read.
async fn put(store: &Store, of: &Collection, name: &str, said: DocumentMetadata) -> DocumentId {
    let new = document(of, name);
    let kept = store
        .put_document(of.owner, &new, name.as_bytes(), LIMITS)
        .await;
    let kept = kept.unwrap();
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    let read = with(text(name), said);
    store
        .settle_document(&unread, &read, Some(1), 11)
        .await
        .unwrap();
    kept.id
}

fn with(read: ReadingResult, said: DocumentMetadata) -> ReadingResult {
    match read {
        ReadingResult::Text {
            content,
            structure,
            chunks,
            characters,
            ..
        } => ReadingResult::Text {
            content,
            structure,
            chunks,
            characters,
            metadata: said,
        },
        problem => problem,
    }
}

async fn shown(store: &Store, of: DocumentId) -> DocumentMetadata {
    store.document_metadata(of).await.unwrap().effective
}

async fn people_win_over_files(store: Store) {
    let of = add(&store, add_user(&store).await, "Work").await;
    let file = metadata(
        &["Draft", "HR"],
        &[
            ("author", words("File")),
            ("pages", vec![MetadataValue::Number(3.5)]),
        ],
    );
    let id = put(&store, &of, "a.txt", file.clone()).await;
    assert_eq!(shown(&store, id).await, file);
    let change = async |change: MetadataChange| {
        let changed = store
            .change_metadata(of.owner, of.id, &[id], &change, FEW, 12)
            .await;
        changed.unwrap();
    };
    change(MetadataChange {
        add_tags: tags(&["Urgent", "hr"]),
        remove_tags: tags(&["DRAFT"]),
        fields: owned(&[
            ("author", words("Ada")),
            ("pages", Vec::new()),
            ("final", vec![MetadataValue::Boolean(true)]),
        ]),
        reset: Vec::new(),
    })
    .await;
    let expected = metadata(
        &["Urgent", "hr"],
        &[
            ("author", words("Ada")),
            ("final", vec![MetadataValue::Boolean(true)]),
        ],
    );
    assert_eq!(shown(&store, id).await, expected);
    let ShownMetadata { set, .. } = store.document_metadata(id).await.unwrap();
    assert_eq!(set, ["author", "pages", "final"].map(str::to_owned).into());
    // The file says something else, and its source, too.
    let again = metadata(
        &["draft", "hr", "new"],
        &[
            ("author", words("Other")),
            ("created", day("2026-05-31", 1_780_185_600_000)),
        ],
    );
    store
        .set_metadata(id, MetadataOrigin::File, &again)
        .await
        .unwrap();
    let source = metadata(
        &["NEW", "label"],
        &[
            ("author", words("Wiki")),
            ("created", day("2026-06-01", 1_780_272_000_000)),
        ],
    );
    store
        .set_metadata(id, MetadataOrigin::Source, &source)
        .await
        .unwrap();
    let found = shown(&store, id).await;
    assert_eq!(found.tags, ["NEW", "label", "Urgent", "hr"]);
    assert_eq!(found.fields["author"], words("Ada"));
    assert_eq!(found.fields["created"], source.fields["created"]);
    change(MetadataChange {
        add_tags: tags(&["draft"]),
        reset: tags(&["author", "pages", "final"]),
        ..MetadataChange::default()
    })
    .await;
    let found = shown(&store, id).await;
    assert!(found.tags.contains(&"draft".to_owned()));
    assert_eq!(found.fields["author"], words("Wiki"));
    assert_eq!(found.fields.len(), 2);
    let origin = MetadataOrigin::Person;
    let set = store.metadata_of_origin(of.id, origin).await.unwrap();
    assert_eq!(set[&id].tags, ["Urgent", "hr", "draft"]);
    assert_eq!(store.document_tags(of.id).await.unwrap()[&id].len(), 5);
}

async fn changes_are_all_or_nothing(store: Store) {
    let of = add(&store, add_user(&store).await, "Work").await;
    let other = add_user(&store).await;
    let a = put(&store, &of, "a.txt", DocumentMetadata::default()).await;
    let b = put(&store, &of, "b.txt", DocumentMetadata::default()).await;
    let tagged = |tags: &[&str]| MetadataChange {
        add_tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..MetadataChange::default()
    };
    let change = async |owner, documents: &[DocumentId], change: &MetadataChange| {
        store
            .change_metadata(owner, of.id, documents, change, FEW, 12)
            .await
    };
    let missing = Err(StoreError::NotFound);
    assert_eq!(change(other, &[a], &tagged(&["x"])).await, missing);
    let unknown = DocumentId::generate();
    assert_eq!(
        change(of.owner, &[a, unknown], &tagged(&["x"])).await,
        missing
    );
    assert!(shown(&store, a).await.is_empty());
    change(of.owner, &[a, b], &tagged(&["x", "y"]))
        .await
        .unwrap();
    assert_eq!(shown(&store, b).await.tags, ["x", "y"]);
    change(of.owner, &[b], &tagged(&["z"])).await.unwrap();
    let too_many = Err(StoreError::Conflict("metadata"));
    assert_eq!(
        change(of.owner, &[a, b], &tagged(&["p", "q"])).await,
        too_many
    );
    assert_eq!(shown(&store, a).await.tags, ["x", "y"]);
    let remove = MetadataChange {
        remove_tags: tags(&["X", "nothing"]),
        ..MetadataChange::default()
    };
    change(of.owner, &[a, b], &remove).await.unwrap();
    assert_eq!(shown(&store, a).await.tags, ["y"]);
    store
        .delete_document(of.owner, of.id, a, store::CitedTexts::Delete, 13)
        .await
        .unwrap();
    assert!(shown(&store, a).await.is_empty());
}

fn wanted(text: &str) -> WantedValue {
    WantedValue {
        text: text.to_owned(),
        ..WantedValue::default()
    }
}

async fn documents_are_filtered(store: Store) {
    let of = add(&store, add_user(&store).await, "Work").await;
    let empty = add(&store, of.owner, "Empty").await;
    let may = 1_777_593_600_000;
    let june = 1_780_272_000_000;
    for (name, said) in [
        (
            "a.txt",
            metadata(
                &["HR", "Entwürfe"],
                &[
                    ("author", words("Ada Łukasz")),
                    ("year", vec![MetadataValue::Number(2024.0)]),
                ],
            ),
        ),
        (
            "b.txt",
            metadata(
                &["hr"],
                &[
                    ("author", words("100% Müller_x")),
                    ("created", day("2026-05-01", may)),
                ],
            ),
        ),
        (
            "c.md",
            metadata(
                &["Legal"],
                &[
                    (
                        "author",
                        vec![
                            MetadataValue::Text("Bob".to_owned()),
                            MetadataValue::Text("Eve".to_owned()),
                        ],
                    ),
                    ("created", day("2026-06-01", june)),
                    ("final", vec![MetadataValue::Boolean(true)]),
                ],
            ),
        ),
        ("d.md", DocumentMetadata::default()),
    ] {
        put(&store, &of, name, said).await;
    }
    let waiting = store
        .put_document(of.owner, &document(&of, "e.md"), b"x", LIMITS)
        .await;
    let names = store.documents(of.id).await.unwrap();
    let check = async |conditions: Vec<MetadataCondition>, expected: &str| {
        let filter = DocumentFilter {
            metadata: conditions.clone(),
            ..DocumentFilter::default()
        };
        let collections = [empty.id, of.id];
        let found = store
            .filtered_documents(of.owner, &collections, &filter, FilterScope::Searchable)
            .await;
        let found: Vec<&str> = found
            .unwrap()
            .iter()
            .map(|(collection, id)| {
                assert_eq!(*collection, of.id);
                let document = names.iter().find(|document| document.id == *id);
                &document.unwrap().name[..1]
            })
            .collect();
        assert_eq!(found.concat(), expected, "{conditions:?}");
    };
    let field =
        |key: &str, test: MetadataTest| vec![MetadataCondition::Field(key.to_owned(), test)];
    let one_of = |values: Vec<WantedValue>| MetadataTest::OneOf(values);
    let contains = |part: &str| MetadataTest::Contains(part.to_owned());
    let numbers = |from: Option<f64>, until: Option<f64>| {
        MetadataTest::Range(WantedRange {
            numbers: Some(Bounds {
                from: from.map(|at| (at, false)),
                until: until.map(|at| (at, false)),
            }),
            dates: None,
        })
    };
    check(Vec::new(), "abcd").await;
    check(vec![MetadataCondition::Tag(tags(&["hr"]))], "ab").await;
    check(vec![MetadataCondition::Tag(tags(&["entwurfe"]))], "a").await;
    check(vec![MetadataCondition::Tag(tags(&["HR", "legal"]))], "abc").await;
    check(
        vec![
            MetadataCondition::Tag(tags(&["hr"])),
            MetadataCondition::Tag(tags(&["legal"])),
        ],
        "",
    )
    .await;
    check(vec![MetadataCondition::NoTag(tags(&["hr"]))], "cd").await;
    check(field("author", one_of(vec![wanted("ADA LUKASZ")])), "a").await;
    check(
        field("author", one_of(vec![wanted("eve"), wanted("Ada Łukasz")])),
        "ac",
    )
    .await;
    check(field("author", contains("ller_")), "b").await;
    check(field("author", contains("0%")), "b").await;
    check(field("author", contains("0_")), "").await;
    check(field("author", MetadataTest::Exists), "abc").await;
    check(
        vec![MetadataCondition::NotField(
            "author".to_owned(),
            one_of(vec![wanted("bob")]),
        )],
        "abd",
    )
    .await;
    check(field("final", one_of(vec![wanted("true")])), "c").await;
    let year = WantedValue {
        number: Some(2024.0),
        ..wanted("2024.00")
    };
    check(field("year", one_of(vec![year])), "a").await;
    check(field("year", numbers(Some(2020.0), Some(2024.0))), "a").await;
    check(field("year", numbers(Some(2024.5), None)), "").await;
    // A number is no date.
    check(field("created", numbers(Some(0.0), None)), "").await;
    let period = WantedValue {
        period: Some((may, june)),
        ..wanted("2026-05")
    };
    check(field("created", one_of(vec![period])), "b").await;
    #[expect(clippy::cast_precision_loss, reason = "a time is small enough")]
    let dates = |from: Option<i64>, until: Option<i64>| {
        MetadataTest::Range(WantedRange {
            numbers: None,
            dates: Some(Bounds {
                from: from.map(|at| (at as f64, true)),
                until: until.map(|at| (at as f64, true)),
            }),
        })
    };
    check(field("created", dates(Some(may), None)), "c").await;
    check(field("created", dates(None, Some(june))), "b").await;
    let all = DocumentFilter {
        endings: tags(&["md"]),
        metadata: vec![MetadataCondition::NoTag(tags(&["legal"]))],
        ..DocumentFilter::default()
    };
    let found = store
        .filtered_documents(of.owner, &[of.id], &all, FilterScope::All)
        .await;
    assert_eq!(found.unwrap().len(), 2);
    assert!(waiting.is_ok());
}

async fn values_are_counted(store: Store) {
    let of = add(&store, add_user(&store).await, "Work").await;
    put(
        &store,
        &of,
        "a",
        metadata(
            &["x", "y"],
            &[("author", words("Ada")), ("created", day("1970-01-01", 5))],
        ),
    )
    .await;
    put(
        &store,
        &of,
        "b",
        metadata(
            &["X"],
            &[("author", words("ada")), ("created", day("1970-01-01", 9))],
        ),
    )
    .await;
    put(&store, &of, "c", metadata(&[], &[("author", words("Bob"))])).await;
    let known = store.known_metadata(of.owner, &[of.id], 9).await.unwrap();
    let tags: Vec<_> = known
        .tags
        .iter()
        .map(|tag| (tag.value.as_str(), tag.documents))
        .collect();
    assert_eq!(tags, [("X", 2), ("y", 1)]);
    let keys: Vec<_> = known
        .keys
        .iter()
        .map(|key| (key.key.as_str(), key.kind.as_str(), key.values, key.dates()))
        .collect();
    assert_eq!(
        keys,
        [
            ("author", "text", 3, None),
            ("created", "date", 2, Some((5, 9)))
        ]
    );
    let values = store
        .known_values(of.owner, &[of.id], "author", "", 9)
        .await
        .unwrap();
    let values: Vec<_> = values
        .iter()
        .map(|one| (one.value.as_str(), one.documents))
        .collect();
    assert_eq!(values, [("Ada", 2), ("Bob", 1)]);
    let values = store
        .known_values(of.owner, &[of.id], "author", "BO", 9)
        .await
        .unwrap();
    assert_eq!(values.len(), 1);
    assert_eq!(
        store
            .known_metadata(of.owner, &[of.id], 1)
            .await
            .unwrap()
            .tags
            .len(),
        1
    );
    assert_eq!(
        store.known_metadata(of.owner, &[], 9).await,
        Ok(store::KnownMetadata::default())
    );
}

async fn readings_replace_what_files_say(store: Store) {
    let of = add(&store, add_user(&store).await, "Work").await;
    let id = put(&store, &of, "a.txt", metadata(&["one"], &[])).await;
    // The same text with other properties.
    let again = store
        .claim_outdated_document(2, 12, 20)
        .await
        .unwrap()
        .unwrap();
    let read = with(
        text("a.txt"),
        metadata(&["two"], &[("author", words("Ada"))]),
    );
    store
        .settle_document(&again, &read, Some(2), 13)
        .await
        .unwrap();
    assert_eq!(
        shown(&store, id).await,
        metadata(&["two"], &[("author", words("Ada"))])
    );
    // A file that cannot be read says nothing; what people set stays.
    let set = metadata(&["mine"], &[]);
    store
        .set_metadata(id, MetadataOrigin::Person, &set)
        .await
        .unwrap();
    let new = document(&of, "a.txt");
    store
        .put_document(of.owner, &new, b"damaged", LIMITS)
        .await
        .unwrap();
    let unread = store.claim_document(30, 40).await.unwrap().unwrap();
    let problem = ReadingResult::Problem("{}".to_owned());
    store
        .settle_document(&unread, &problem, Some(2), 31)
        .await
        .unwrap();
    assert_eq!(shown(&store, id).await, set);
}
