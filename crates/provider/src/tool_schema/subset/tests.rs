//! Schemas that Gemini refuses unchanged.

use proptest::prelude::*;

use super::*;

/// A property of this schema as it is sent.
fn check(schema: Value, expected: Value) {
    let whole = json!({"type": "object", "properties": {"it": schema}});
    assert_eq!(
        lower_parameters(&whole)["properties"]["it"],
        expected,
        "{schema}"
    );
}

#[test]
fn supported_keywords_are_kept() {
    for schema in [
        json!({"type": "string", "description": "d", "enum": ["a", "b"], "default": "a"}),
        json!({"type": "integer", "minimum": 1, "maximum": 9}),
        json!({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2}),
        json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}),
        json!({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"],
            "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"type": "null"}),
        json!({}),
    ] {
        check(schema.clone(), schema);
    }
}

#[test]
fn unsupported_keywords_are_described() {
    let id = json!({"type": "string", "title": "Id", "format": "uuid", "description": "The id.", "minLength": 3,
        "examples": ["x"], "$comment": "c", "description_": 1});
    check(
        id,
        json!({"type": "string", "description": "The id. (format: uuid, minimum length: 3)"}),
    );
    check(
        json!({"type": "string", "pattern": "^a$"}),
        json!({"type": "string", "description": "pattern: ^a$"}),
    );
    let limits = json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5});
    let described = json!({"type": "number", "description": "more than 0, less than 1.5", "minimum": 0, "maximum": 1.5});
    check(limits, described);
    check(
        json!({"type": "string", "description": null}),
        json!({"type": "string"}),
    );
}

#[test]
fn exclusive_limits_of_integers_are_exact() {
    check(
        json!({"type": "integer", "exclusiveMinimum": 0}),
        json!({"type": "integer", "minimum": 1}),
    );
    // Draft 4.
    let old = json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false});
    check(old, json!({"type": "integer", "minimum": 1, "maximum": 9}));
}

#[test]
fn types_are_one_or_a_choice() {
    check(json!({"type": ["object"]}), json!({"type": "object"}));
    check(
        json!({"type": "STRING", "nullable": true}),
        json!({"type": ["string", "null"]}),
    );
    check(
        json!({"type": ["string", "null"], "description": "d"}),
        json!({"type": ["string", "null"], "description": "d"}),
    );
    check(
        json!({"type": ["string", "integer", "null"], "minimum": 1}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}, {"type": "null"}]}),
    );
    check(
        json!({"type": ["number", "integer"]}),
        json!({"type": "number"}),
    );
    check(
        json!({"properties": {}}),
        json!({"type": "object", "properties": {}}),
    );
    check(json!({"type": "any"}), json!({}));
    check(json!(true), json!({}));
}

#[test]
fn values_are_texts_or_numbers() {
    check(
        json!({"const": "a"}),
        json!({"type": "string", "enum": ["a"]}),
    );
    check(
        json!({"const": 1, "type": "integer"}),
        json!({"type": "integer", "enum": [1]}),
    );
    check(json!({"const": true}), json!({"type": "boolean"}));
    check(json!({"const": null}), json!({}));
    check(
        json!({"enum": ["a", 1]}),
        json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}]}),
    );
    check(
        json!({"type": "string", "enum": ["a", null]}),
        json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
    );
    check(
        json!({"type": "string", "enum": ["", "a"]}),
        json!({"type": "string"}),
    );
}

/// `google_optional_fields_native_output` and what Vertex AI says: "When using any_of, it must be the only field set."
#[test]
fn a_choice_has_no_siblings() {
    check(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "description": "d", "title": "T"}),
        json!({"type": ["string", "null"], "description": "d", "default": null}),
    );
    check(
        json!({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "description": "d", "default": 1}),
        json!({"anyOf": [{"type": "string", "description": "d"}, {"type": "integer"}, {"type": "null"}]}),
    );
    // Such choices only constrain the whole, or are duplicates.
    let either = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(
        either,
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "anyOf": [{"minItems": 1}]}),
        json!({"type": "array", "items": {"type": "string"}}),
    );
    check(json!({"anyOf": [{"type": "string"}, {}]}), json!({}));
    check(
        json!({"anyOf": [{"type": "string"}], "description": null}),
        json!({"type": "string"}),
    );
}

#[test]
fn parts_of_all_of_are_merged() {
    let schema = json!({"description": "d", "allOf": [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"], "description": "e"},
    ]});
    check(
        schema,
        json!({"type": "object", "description": "d",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]}),
    );
}

#[test]
fn tuples_of_older_drafts_are_known() {
    check(
        json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": {"type": "null"}}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": {"type": "null"}}),
    );
    check(
        json!({"type": "array", "items": true}),
        json!({"type": "array"}),
    );
}

#[test]
fn required_properties_exist() {
    check(
        json!({"type": "object", "properties": {"a": {"required": true}}, "required": ["a", "gone", "a", 7]}),
        json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
    );
}

#[test]
fn references_are_definitions_of_the_root() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/Args",
        "definitions": {
            "Args": {"type": "object", "properties": {
                "color": {"$ref": "#/definitions/Color", "description": "of the wall"},
                "maybe": {"anyOf": [{"$ref": "#/definitions/Color"}, {"type": "null"}], "description": "or none"},
                "headers": {"type": "object"},
                "more": {"type": "array", "items": {"$ref": "#/definitions/Args/properties/headers"}},
                "bare": {"$ref": "#/definitions/Color"},
                "gone": {"$ref": "#/definitions/Gone", "description": "who knows"},
                "far": {"$ref": "https://a.example/schema"},
            }},
            "Color": {"type": "string", "enum": ["red", "blue"]},
        },
    });
    let color = |description: &str| json!({"type": "string", "enum": ["red", "blue"], "description": description});
    let expected = json!({
        "type": "object",
        "properties": {
            "color": color("of the wall"),
            "maybe": {"anyOf": [color("or none"), {"type": "null"}]},
            "headers": {"type": "object"},
            "more": {"type": "array", "items": {"$ref": "#/$defs/headers"}},
            "bare": {"$ref": "#/$defs/Color"},
            "gone": {"description": "who knows"},
            "far": {},
        },
        "$defs": {"Color": {"type": "string", "enum": ["red", "blue"]}, "headers": {"type": "object"}},
    });
    assert_eq!(lower_parameters(&schema), expected);
}

/// "Cyclic references … may only be used within non-required properties."
#[test]
fn optional_cycles_are_removed() {
    let schema = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}, "self": {"$ref": "#"}},
        "required": ["tree"],
        "$defs": {
            "Node": {"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/Next"}},
                "required": ["value", "next"]},
            "Next": {"type": "object", "properties": {"node": {"$ref": "#/$defs/Node"}}, "required": ["node"]},
        },
    });
    let lowered = lower_parameters(&schema);
    assert_eq!(lowered["required"], json!(["tree"]));
    assert_eq!(lowered["$defs"]["Node"]["required"], json!(["value"]));
    assert_eq!(lowered["$defs"]["Next"].get("required"), None);
    assert_eq!(
        lowered["properties"]["self"],
        json!({"$ref": "#/$defs/Root"})
    );
    assert_eq!(lowered["$defs"]["Root"]["required"], json!(["tree"]));
}

#[test]
fn arguments_are_an_object() {
    for schema in [
        json!(null),
        json!({}),
        json!({"type": "string"}),
        json!({"$ref": "#/$defs/gone"}),
    ] {
        assert_eq!(
            lower_parameters(&schema),
            json!({"type": "object", "properties": {}}),
            "{schema}"
        );
    }
    let union = json!({"description": "d", "oneOf": [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"$ref": "#/$defs/B"},
    ], "$defs": {"B": {"type": "object", "properties": {"b": {"type": "integer"}}}}});
    let expected = json!({"type": "object", "description": "d",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
    assert_eq!(lower_parameters(&union), expected);
}

#[test]
fn hostile_schemas_stay_small() {
    let doubled = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "object"});
    assert_eq!(lower_parameters(&doubled)["type"], "object");
    let itself = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "$ref": "#"});
    assert_eq!(lower_parameters(&itself)["type"], "object");
    // Each definition has two of the next one.
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1), "description": "d"});
        definitions.insert(
            level.to_string(),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    let bomb = json!({"$ref": "#/$defs/0", "$defs": definitions});
    assert!(lower_parameters(&bomb).to_string().len() < 20_000);
}

/// Keywords with values of any kind.
fn schema() -> impl Strategy<Value = Value> {
    const KEYWORDS: [&str; 16] = [
        "type",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "items",
        "prefixItems",
        "properties",
        "required",
        "enum",
        "const",
        "description",
        "minimum",
        "exclusiveMinimum",
        "additionalProperties",
        "$defs",
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..3).prop_map(Value::from),
        prop_oneof![
            Just("object"),
            Just("string"),
            Just("null"),
            Just("#"),
            Just("#/$defs/a"),
            Just("a"),
            Just("")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let keyword = prop::sample::select(KEYWORDS.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((keyword, inner.clone()), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            inner.prop_map(|inner| json!({ "a": inner })),
        ]
    })
}

/// Whether it has only what Gemini knows.
fn assert_known(schema: &Value, root: &Value) {
    const KNOWN: [&str; 14] = [
        "type",
        "description",
        "enum",
        "default",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "properties",
        "additionalProperties",
        "required",
        "$defs",
    ];
    let fields = schema.as_object().unwrap();
    assert!(
        fields.get("description").is_none_or(Value::is_string),
        "{schema}"
    );
    if let Some(reference) = fields.get("$ref") {
        assert_eq!(fields.keys().filter(|name| *name != "$defs").count(), 1);
        assert!(
            root.pointer(reference.as_str().unwrap().strip_prefix('#').unwrap())
                .is_some()
        );
    } else if let Some(branches) = fields.get("anyOf") {
        assert_eq!(fields.keys().filter(|name| *name != "$defs").count(), 1);
        branches
            .as_array()
            .unwrap()
            .iter()
            .for_each(|branch| assert_known(branch, root));
    } else {
        assert!(
            fields.keys().all(|name| KNOWN.contains(&name.as_str())),
            "{schema}"
        );
    }
    for name in ["properties", "$defs"] {
        fields
            .get(name)
            .into_iter()
            .flat_map(|it| it.as_object().unwrap().values())
            .for_each(|it| assert_known(it, root));
    }
    fields
        .get("items")
        .into_iter()
        .for_each(|items| assert_known(items, root));
    let tuple = fields.get("prefixItems").and_then(Value::as_array);
    tuple
        .into_iter()
        .flatten()
        .for_each(|item| assert_known(item, root));
}

proptest! {
    #[test]
    fn only_supported_keywords_are_sent(schema in schema()) {
        let lowered = lower_parameters(&schema);
        prop_assert_eq!(&lowered["type"], "object");
        assert_known(&lowered, &lowered);
        let answer = lower(&schema);
        assert_known(&answer, &answer);
    }
}
