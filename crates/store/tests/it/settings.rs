//! Settings by name.

use serde_json::json;
use store::Store;

on_every_database!(keeps_the_last_value, lists_by_exact_prefix);

async fn keeps_the_last_value(store: Store) {
    assert_eq!(store.setting("default_model").await, Ok(None));
    for value in [
        json!("tour"),
        json!(null),
        json!({"b": [1, 2.5, "\0 и"], "a": true}),
    ] {
        store.put_setting("default_model", &value).await.unwrap();
        assert_eq!(store.setting("default_model").await, Ok(Some(value)));
    }
    // Whoever comes first says what it is.
    for value in [json!(1), json!(2)] {
        assert_eq!(store.setting_or("first", &value).await, Ok(json!(1)));
    }
    assert_eq!(store.setting("first").await, Ok(Some(json!(1))));
}

async fn lists_by_exact_prefix(store: Store) {
    for name in [
        "model:б", "model:a", "Model:c", "models", "m%del:d", "other",
    ] {
        store.put_setting(name, &json!(name)).await.unwrap();
    }
    let names = async |prefix: &str| -> Vec<String> {
        store
            .settings(prefix)
            .await
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    };
    assert_eq!(names("model:").await, ["model:a", "model:б"]);
    assert_eq!(names("m%del").await, ["m%del:d"]);
    assert_eq!(names("").await.len(), 6);
    assert!(names("модель").await.is_empty());
}
