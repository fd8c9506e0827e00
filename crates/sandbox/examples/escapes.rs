//! Tries to get past the limits of memory, disk and processor time, each by a bounded amount, and prints what the
//! machine lost meanwhile: `cargo run --release -p sandbox --example escapes [name …]`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it is read by a person"
)]

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use sandbox::{Limits, Options, Sandbox};

/// Name, limit of processor time in seconds, script for Python.
const ATTEMPTS: [(&str, u64, &str); 8] = [
    (
        "shared anonymous memory, 3 x 1 GB",
        60,
        include_str!("escapes/shared.py"),
    ),
    (
        "huge pages spliced into 100 pipes",
        60,
        include_str!("escapes/vmsplice.py"),
    ),
    (
        "full socket pairs of 20 processes",
        60,
        include_str!("escapes/sockets.py"),
    ),
    (
        "deleted files in flight, 12 x 100 MB",
        60,
        include_str!("escapes/in_flight.py"),
    ),
    (
        "children nobody waits for, 8 s",
        8,
        include_str!("escapes/children.py"),
    ),
    (
        "short children nobody waits for, 8 s",
        8,
        include_str!("escapes/short_children.py"),
    ),
    (
        "threads whose first one has ended, 2 x 900 MB",
        60,
        include_str!("escapes/threads.py"),
    ),
    (
        "semaphores of System V, 500 MB",
        60,
        include_str!("escapes/semaphores.py"),
    ),
];

fn main() -> ExitCode {
    if let Some(code) = sandbox::become_helper() {
        return code;
    }
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(attempt_all());
    ExitCode::SUCCESS
}

async fn attempt_all() {
    let python = (!rustix::process::geteuid().is_root()).then(|| PathBuf::from("/usr/bin/python3"));
    let sandbox = Sandbox::find(Options {
        python,
        ..Options::default()
    })
    .await
    .unwrap();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, cpu_seconds, script) in ATTEMPTS {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word)) {
            continue;
        }
        let path = std::env::temp_dir().join(format!("glasshouse-escapes-{}", std::process::id()));
        let folder = sandbox.folder(&path).unwrap();
        let lost = Lost::watch(path.clone());
        let limits = Limits {
            wall_ms: 30_000,
            cpu_seconds,
            ..Limits::default()
        };
        let command = sandbox
            .command(&folder, "python3")
            .arg("-c")
            .arg(script)
            .limits(limits);
        let outcome = command.run(|_, _| {}).await.unwrap();
        let (memory_mb, disk_mb) = lost.most();
        let burnt = std::fs::metadata(path.join("burnt")).map_or(0, |file| file.len());
        println!(
            "{name}: {} after {} ms; most memory {memory_mb} MB, disk {disk_mb} MB, burnt {burnt} x 10 ms; {}",
            outcome.ended,
            outcome.time_ms,
            outcome
                .stderr
                .text
                .trim()
                .lines()
                .last()
                .unwrap_or_default(),
        );
        println!(
            "    {}",
            outcome
                .stdout
                .text
                .trim()
                .lines()
                .last()
                .unwrap_or_default()
        );
        std::fs::remove_dir_all(path).unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The most that the machine has had less of than at the beginning.
struct Lost {
    memory: Arc<AtomicI64>,
    disk: Arc<AtomicI64>,
    is_over: Arc<AtomicBool>,
}

impl Lost {
    fn watch(path: PathBuf) -> Self {
        let lost = Self {
            memory: Arc::default(),
            disk: Arc::default(),
            is_over: Arc::default(),
        };
        let (memory, disk, is_over) =
            (lost.memory.clone(), lost.disk.clone(), lost.is_over.clone());
        let (memory_before, disk_before) = (available(), free(&path));
        let began = Instant::now();
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(60) {
                memory.fetch_max(memory_before - available(), Ordering::Relaxed);
                disk.fetch_max(disk_before - free(&path), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        lost
    }

    fn most(self) -> (i64, i64) {
        self.is_over.store(true, Ordering::Relaxed);
        (
            self.memory.load(Ordering::Relaxed) / 1_000_000,
            self.disk.load(Ordering::Relaxed) / 1_000_000,
        )
    }
}

fn available() -> i64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<i64>()
        .unwrap()
        * 1024
}

fn free(path: &std::path::Path) -> i64 {
    rustix::fs::statvfs(path).map_or(0, |disk| {
        i64::try_from(disk.f_bavail * disk.f_frsize).unwrap_or(0)
    })
}
