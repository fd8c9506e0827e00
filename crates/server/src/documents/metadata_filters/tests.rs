//! Filters as models, clients and people write them.

use serde_json::json;

use super::*;

fn parsed(metadata: &Value) -> Result<Vec<MetadataCondition>, FilterProblem> {
    conditions(&TagFilters::default(), metadata)
}

fn tagged(tags: &Value) -> Result<Vec<MetadataCondition>, FilterProblem> {
    let tags = TagFilters {
        all: Some(tags),
        ..TagFilters::default()
    };
    conditions(&tags, &Value::Null)
}

fn tag(tags: &[&str]) -> MetadataCondition {
    MetadataCondition::Tag(tags.iter().map(|&tag| tag.to_owned()).collect())
}

fn is(key: &str, texts: &[&str]) -> MetadataCondition {
    let values = texts.iter().map(|text| wanted(&json!(text)).unwrap());
    MetadataCondition::Field(key.to_owned(), MetadataTest::OneOf(values.collect()))
}

#[track_caller]
fn check(metadata: Value, expected: &[MetadataCondition]) {
    assert_eq!(parsed(&metadata).as_deref(), Ok(expected), "{metadata}");
}

#[track_caller]
fn check_tags(tags: Value, expected: &[MetadataCondition]) {
    assert_eq!(tagged(&tags).as_deref(), Ok(expected), "{tags}");
}

#[test]
fn tags_are_named_in_many_forms() {
    check_tags(json!(null), &[]);
    check_tags(json!(""), &[]);
    check_tags(json!([]), &[]);
    check_tags(json!("HR"), &[tag(&["HR"])]);
    check_tags(json!("#hr, to do"), &[tag(&["hr"]), tag(&["to do"])]);
    check_tags(json!(["hr", "legal"]), &[tag(&["hr"]), tag(&["legal"])]);
    check_tags(json!({"any": ["hr", "legal"]}), &[tag(&["hr", "legal"])]);
    check_tags(json!({"$in": "hr"}), &[tag(&["hr"])]);
    let none = MetadataCondition::NoTag(vec!["old".to_owned()]);
    check_tags(json!({"all": ["hr"], "none": "old"}), &[tag(&["hr"]), none]);
    for wrong in [
        json!(7),
        json!([7]),
        json!({"some": "x"}),
        json!("x".repeat(61)),
    ] {
        assert!(tagged(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn values_are_compared_in_many_forms() {
    check(json!(null), &[]);
    check(json!({}), &[]);
    check(json!({"author": ""}), &[]);
    let ada = [is("author", &["Ada"])];
    for same in [
        json!({"Author": "Ada"}),
        json!({"author": {"equals": "Ada"}}),
        json!({"author": {"$eq": "Ada"}}),
        json!({"author": ["Ada"]}),
        json!([{"author": "Ada"}]),
        json!({"key": "author", "value": "Ada"}),
        json!({"type": "eq", "key": "author", "value": "Ada"}),
        json!([{"field": "author", "operator": "=", "value": "Ada"}]),
        json!({"type": "and", "filters": [{"type": "eq", "key": "author", "value": "Ada"}]}),
        json!("author=Ada"),
        json!("author: \"Ada\""),
        json!("{\"author\": \"Ada\"}"),
    ] {
        check(same, &ada);
    }
    check(
        json!({"author": ["Ada", "Bob"]}),
        &[is("author", &["Ada", "Bob"])],
    );
    check(
        json!({"type": "or", "filters": [
            {"type": "eq", "key": "author", "value": "Ada"}, {"type": "eq", "key": "author", "value": "Bob"},
        ]}),
        &[is("author", &["Ada", "Bob"])],
    );
    check(
        json!({"tags": ["hr"], "author": "Ada"}),
        &[tag(&["hr"]), is("author", &["Ada"])],
    );
    let not = MetadataCondition::NotField(
        "author".to_owned(),
        MetadataTest::OneOf(vec![wanted(&json!("Ada")).unwrap()]),
    );
    check(json!({"author": {"ne": "Ada"}}), std::slice::from_ref(&not));
    check(json!("author != Ada"), &[not]);
    let part = MetadataCondition::Field(
        "title".to_owned(),
        MetadataTest::Contains("year plan".to_owned()),
    );
    check(
        json!({"title": {"contains": " year plan"}}),
        std::slice::from_ref(&part),
    );
    check(json!("title contains year plan"), &[part]);
    let exists = MetadataCondition::Field("title".to_owned(), MetadataTest::Exists);
    check(json!({"title": {"$exists": true}}), &[exists]);
}

#[track_caller]
fn check_range(test: Value, numbers: Option<Bounds>, dates: Option<Bounds>) {
    let range = WantedRange { numbers, dates };
    let expected = MetadataCondition::Field("year".to_owned(), MetadataTest::Range(range));
    check(json!({"year": test}), &[expected]);
}

#[test]
fn ranges_are_of_numbers_or_dates() {
    let bounds =
        |from: Option<(f64, bool)>, until: Option<(f64, bool)>| Some(Bounds { from, until });
    check_range(json!({"from": 2.5}), bounds(Some((2.5, false)), None), None);
    check_range(
        json!({"$gt": 1, "$lt": "3"}),
        bounds(Some((1.0, true)), Some((3.0, true))),
        None,
    );
    let day = 86_400_000.0;
    check_range(
        json!({"from": "1970-01-02", "to": "1970-01-03"}),
        None,
        bounds(Some((day, false)), Some((3.0 * day, true))),
    );
    check_range(
        json!({"after": "1970-01-02", "before": "1970-01-09"}),
        None,
        bounds(Some((2.0 * day, false)), Some((8.0 * day, true))),
    );
    // A year may be a number or a date.
    check_range(
        json!({"gte": 1970, "lte": 1970}),
        bounds(Some((1970.0, false)), Some((1970.0, false))),
        bounds(Some((0.0, false)), Some((365.0 * day, true))),
    );
    let found = parsed(&json!("year >= 1970-01-02 and author = Ada")).unwrap();
    assert_eq!(found.len(), 2);
}

#[test]
fn what_cannot_be_parsed_is_reported() {
    for wrong in [
        json!(7),
        json!([7]),
        json!("the newest ones"),
        json!({"author": {}}),
        json!({"author": {"near": "Ada"}}),
        json!({"author": {"from": "Ada"}}),
        json!({"author": {"from": 5, "to": 3}}),
        json!({"author": {"contains": 7}}),
        json!({"author": {"from": 3, "to": "2026-05-05"}}),
        json!({"author": [["Ada"]]}),
        json!({"a/b": "Ada"}),
        json!({"author": "x".repeat(301)}),
        json!({"type": "or", "filters": [{"key": "a", "value": 1}, {"key": "b", "value": 2}]}),
        json!({"$or": [{"author": "Ada"}, {"year": {"gte": 3}}]}),
        json!(vec![json!({"a": "b"}); 31]),
    ] {
        let found = parsed(&wrong);
        assert!(found.is_err(), "{wrong} {found:?}");
        assert!(!found.unwrap_err().words().is_empty());
    }
}
