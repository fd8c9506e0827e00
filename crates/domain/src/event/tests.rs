//! The stored form of events.

use super::*;
use crate::AgentPath;

#[test]
fn the_stored_form() {
    let event = RunEvent {
        run: "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap(),
        seq: 7,
        at: 1_763_760_000_123,
        agent: AgentPath::main(),
        body: EventBody::TextDelta {
            item: "t1".into(),
            delta: "Hé\n".into(),
        },
    };
    let json = serde_json::to_string(&event).unwrap();
    assert_eq!(
        json,
        r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":7,"at":1763760000123,"body":{"type":"text_delta","item":"t1","delta":"Hé\n"}}"#
    );
    assert_eq!(serde_json::from_str::<RunEvent>(&json).unwrap(), event);
}
