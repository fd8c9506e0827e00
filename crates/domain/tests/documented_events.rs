//! The examples in `docs/reference/events.md` are events exactly as they are stored.

use domain::RunEvent;
use serde_json::Value;

#[test]
fn each_example_is_an_event_of_its_heading() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/events.md"
    );
    let docs = std::fs::read_to_string(path).unwrap();
    let mut examples = 0;
    for section in docs.split("\n### `").skip(1) {
        let (name, rest) = section.split_once('`').unwrap();
        let json = rest
            .split("```json\n")
            .nth(1)
            .and_then(|block| block.split("\n```").next());
        let json = json.unwrap_or_else(|| panic!("{name} has no example in a json block"));
        let event: RunEvent =
            serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(event.body.type_name(), name);
        let written: Value = serde_json::from_str(json).unwrap();
        let stored = serde_json::to_value(&event).unwrap();
        assert_eq!(written, stored, "{name}: a field is missing or made up");
        examples += 1;
    }
    assert!(examples > 20, "{examples} examples");
}
