//! A short torture, so that every change goes through one; `cargo xtask torture` is the long one.

use std::process::Command;

#[test]
fn nothing_is_lost_or_done_twice() {
    let output = Command::new(env!("CARGO_BIN_EXE_torture"))
        .args(["--kills", "20"])
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success() && said.contains("score: 20/20"),
        "{said}"
    );
}
