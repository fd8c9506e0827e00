//! Schemas adapted to each format.

use serde_json::json;

use super::*;

/// The adapted schema, and the lost keywords.
fn check(tool_format: ToolFormat, schema: Value, expected: Value, lost: &[&str]) {
    let text = schema.to_string();
    let schema = ToolSchema::from(schema);
    let sent: Value = serde_json::from_str(schema.json_for(tool_format).get()).unwrap();
    assert_eq!(sent, expected, "{tool_format:?} {text}");
    assert_eq!(schema.lost_for(tool_format), lost, "{tool_format:?} {text}");
    // A program may send the adapted schema back.
    let again = ToolSchema::from(expected);
    assert_eq!(
        again.json_for(tool_format).get(),
        again.json().get(),
        "{tool_format:?} again"
    );
}

/// The same for the schema of an argument.
fn check_argument(tool_format: ToolFormat, schema: Value, expected: Value, lost: &[&str]) {
    let of = |schema| json!({"type": "object", "properties": {"it": schema}});
    check(tool_format, of(schema), of(expected), lost);
}

/// The formats that accept full schemas with exceptions.
const WHOLE: [ToolFormat; 4] = [
    ToolFormat::Chat,
    ToolFormat::Responses,
    ToolFormat::Messages,
    ToolFormat::Converse,
];

#[test]
fn supported_schemas_are_unchanged() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "minLength": 1, "format": "email", "default": null, "examples": ["x"]},
            "b": {"type": ["string", "null"], "enum": ["x", null]},
            "c": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "d": {"oneOf": [{"const": 1}, {"type": "object", "additionalProperties": false}]},
            "e": {"$ref": "#/$defs/Node"},
        },
        "required": ["a"],
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    });
    for tool_format in WHOLE {
        check(tool_format, schema.clone(), schema.clone(), &[]);
    }
}

#[test]
fn patterns_are_sent_if_supported() {
    let regular = json!({"type": "string", "pattern": "^\\d+$", "description": "Id."});
    let described = json!({"type": "string", "description": "Id. (pattern: ^\\d+$)"});
    check_argument(ToolFormat::Chat, regular.clone(), described.clone(), &[]);
    check_argument(ToolFormat::Responses, regular.clone(), regular.clone(), &[]);
    check_argument(ToolFormat::GenerateContent, regular, described, &[]);
    // Zod's e-mail address.
    for pattern in [
        "^(?!\\.)(?!.*\\.\\.)[a-z]+@[a-z]+$",
        "(?<year>\\d{4})-\\k<year>",
    ] {
        for tool_format in WHOLE {
            let schema = json!({"type": "string", "format": "email", "pattern": pattern});
            check_argument(
                tool_format,
                schema,
                json!({"type": "string", "format": "email"}),
                &["pattern"],
            );
        }
    }
}

#[test]
fn tuples_become_lists() {
    let tuple = json!({"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": false});
    let list = json!({
        "type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}, "maxItems": 2,
        "description": "in this order: number, string",
    });
    check_argument(
        ToolFormat::Chat,
        tuple.clone(),
        list.clone(),
        &["prefixItems"],
    );
    check_argument(ToolFormat::Responses, tuple.clone(), list, &["prefixItems"]);
    let newer = json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false});
    check_argument(ToolFormat::Messages, tuple.clone(), newer.clone(), &[]);
    check_argument(ToolFormat::Converse, tuple, newer, &[]);
    let same = json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]});
    let numbers = json!({"type": "array", "items": {"type": "number"}, "description": "in this order: number, number"});
    check_argument(ToolFormat::Chat, same, numbers, &["prefixItems"]);
}

#[test]
fn lists_define_their_items() {
    let list = json!({"type": ["array", "null"]});
    check_argument(
        ToolFormat::Chat,
        list.clone(),
        json!({"type": ["array", "null"], "items": {}}),
        &[],
    );
    check_argument(ToolFormat::Messages, list.clone(), list, &[]);
}

#[test]
fn the_top_is_an_object_without_choices() {
    for tool_format in WHOLE {
        check(
            tool_format,
            json!({}),
            json!({"type": "object", "properties": {}}),
            &[],
        );
        check(
            tool_format,
            json!(true),
            json!({"type": "object", "properties": {}}),
            &[],
        );
        check(
            tool_format,
            json!({"type": ["object"], "properties": {"a": {"type": "string"}}, "anyOf": [
                {"properties": {"b": {"type": "string"}}, "required": ["b"]}, {"$ref": "#/$defs/c"},
            ], "$defs": {"c": {"properties": {"c": {"type": "integer"}}}}}),
            json!({"type": "object", "properties":
                {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "integer"}}}),
            &["anyOf"],
        );
        check(
            tool_format,
            json!({"allOf": [{"properties": {"a": {}}, "required": ["a"]}], "required": ["c"]}),
            json!({"required": ["c", "a"], "type": "object", "properties": {"a": {}}}),
            &[],
        );
        // As pydantic and zod-to-json-schema write it.
        check(
            tool_format,
            json!({"$ref": "#/definitions/Args", "$schema": "http://json-schema.org/draft-07/schema#",
                "definitions": {"Args": {"type": "object", "properties": {"a": {"type": "string"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            &[],
        );
    }
    let closed = json!({"type": "object", "description": "d", "properties": {}, "additionalProperties": false});
    check(
        ToolFormat::Converse,
        closed.clone(),
        json!({"type": "object", "properties": {}}),
        &[],
    );
    check(ToolFormat::Messages, closed.clone(), closed, &[]);
}

#[test]
fn references_lead_to_definitions() {
    let of = |reference: &str| {
        json!({
            "type": "object", "properties": {"a": {"$ref": reference}, "b": {"type": "string"}},
            "definitions": {"My Type": {"type": "integer"}, "unused": {}},
        })
    };
    for tool_format in ToolFormat::ALL {
        check(
            tool_format,
            of("#/definitions/My%20Type"),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/My_Type"}, "b": {"type": "string"}},
                "$defs": {"My_Type": {"type": "integer"}}}),
            &[],
        );
        check(
            tool_format,
            of("#/properties/b"),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}},
                "$defs": {"b": {"type": "string"}}}),
            &[],
        );
    }
    let nowhere = json!({"type": "object", "properties": {"a": {}, "b": {"type": "string"}}});
    check(
        ToolFormat::Chat,
        of("http://x.example/a.json"),
        nowhere,
        &["$ref"],
    );
    check(
        ToolFormat::Chat,
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x", "description": "A."}}, "$defs":
            {"x": {"type": "string", "description": "X."}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "description": "A."}}}),
        &[],
    );
}

#[test]
fn other_keywords_that_servers_refuse() {
    for tool_format in WHOLE {
        let limits =
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "description": null});
        check_argument(
            tool_format,
            limits,
            json!({"type": "integer", "exclusiveMinimum": 0}),
            &[],
        );
        check_argument(
            tool_format,
            json!({"anyOf": [true, false]}),
            json!({"anyOf": [{}, {"not": {}}]}),
            &[],
        );
        check_argument(
            tool_format,
            json!({"type": "object", "patternProperties": {"^(.*)$": {"type": "string"}}}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            &[],
        );
        check_argument(
            tool_format,
            json!({"type": "object", "patternProperties": {"^a": {"type": "string"}, "^b": {}}}),
            json!({"type": "object"}),
            &["patternProperties"],
        );
    }
    check_argument(
        ToolFormat::GenerateContent,
        json!({"not": {"type": "string"}}),
        json!({}),
        &["not"],
    );
}

#[test]
fn arguments_with_invalid_names_are_described() {
    let schema = json!({"type": "object", "properties": {"größe": {"type": "integer"}, "a": {}}, "required": ["größe", "a"]});
    check(
        ToolFormat::Messages,
        schema.clone(),
        json!({"type": "object", "properties": {"a": {}}, "required": ["a"],
            "description": "also takes \"größe\": {\"type\":\"integer\"}"}),
        &["properties"],
    );
    check(ToolFormat::Chat, schema.clone(), schema, &[]);
}

#[test]
fn recursion_and_depth_end() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let itself = json!({"$ref": "#", "properties": {"a": {"$ref": "#/properties/a"}}});
    for tool_format in ToolFormat::ALL {
        assert!(
            ToolSchema::from(deep.clone())
                .json_for(tool_format)
                .get()
                .len()
                < 5_000
        );
        assert!(
            ToolSchema::from(itself.clone())
                .json_for(tool_format)
                .get()
                .contains("\"object\"")
        );
    }
}
