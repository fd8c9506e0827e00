//! All of these tests once more as a user without rights: most servers are not root.

use std::{os::unix::process::CommandExt, process::Command};

const NOBODY: u32 = 65534;

#[test]
fn all_holds_for_a_server_that_is_not_root() {
    if !rustix::process::geteuid().is_root() {
        // Then all the others have just shown that.
        return;
    }
    // By this link nobody needs to reach the folder the tests were built in.
    let mut tests = Command::new("/proc/self/exe");
    tests
        .args(["--skip", "unprivileged::", "--test-threads", "4"])
        .current_dir("/");
    let output = tests
        .uid(NOBODY)
        .gid(NOBODY)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        text.contains("test shut_in::there_is_no_network ... ok"),
        "{text}"
    );
}
