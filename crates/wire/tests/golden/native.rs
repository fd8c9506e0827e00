//! `?format=native`: the stored form, golden, and that reading it restores the log.

use domain::{RunEvent, laws};

use crate::{column::on_every_log, scenarios};

/// The stored form: a line for each event.
fn lines(log: &[RunEvent]) -> Vec<String> {
    log.iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect()
}

#[test]
fn golden_lines() {
    for (name, log) in scenarios::all() {
        let lines = lines(&log).into_iter().map(|line| match line.len() {
            0..2000 => line,
            size => format!("{}… ({size} bytes)", &line[..line.floor_char_boundary(200)]),
        });
        insta::assert_snapshot!(
            format!("native__{name}"),
            lines.collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn reading_the_lines_restores_the_log() {
    on_every_log(|name, log| {
        let lines = lines(log);
        assert!(
            lines.iter().all(|line| !line.contains(['\n', '\r', '\0'])),
            "{name}"
        );
        let read: Vec<RunEvent> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, log, "{name}");
        for cut in 0..=log.len() {
            assert_eq!(
                laws::check_prefix(&log[..cut]),
                Ok(()),
                "{name}: the first {cut}"
            );
        }
    });
}
