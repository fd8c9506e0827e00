//! Measures what the sandbox costs: `cargo run --release -p sandbox --example measure`. With the path of the server's
//! program as an argument that is the helper, as when it runs.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it is read by a person"
)]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use sandbox::{Folder, Limits, Options, Sandbox};

fn main() -> ExitCode {
    if let Some(code) = sandbox::become_helper() {
        return code;
    }
    let helper = std::env::args_os().nth(1).map(PathBuf::from);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(measure(Options {
        helper,
        ..Options::default()
    }));
    ExitCode::SUCCESS
}

async fn measure(options: Options) {
    let began = Instant::now();
    let sandbox = Sandbox::find(options).await.unwrap();
    println!("found in {:.1} ms: {:?}", millis(began), sandbox.programs());
    let path = std::env::temp_dir().join(format!("glasshouse-measure-{}", std::process::id()));
    let folder = sandbox.folder(Path::new(&path)).unwrap();
    let times = 30;
    row("a shell that does nothing", times, || async {
        sandbox.shell(&folder, ":").run(|_, _| {}).await.unwrap();
    })
    .await;
    row("a Python that does nothing", times, || async {
        sandbox
            .command(&folder, "python3")
            .arg("-c")
            .arg("pass")
            .run(|_, _| {})
            .await
            .unwrap();
    })
    .await;
    row("a session with its first cell", times, || async {
        let mut session = sandbox.session(&folder, Limits::default()).await.unwrap();
        session.run("1", |_, _| {}).await.unwrap();
    })
    .await;
    warm(&sandbox, &folder).await;
    watcher(&sandbox, &folder).await;
    std::fs::remove_dir_all(path).unwrap();
}

async fn warm(sandbox: &Sandbox, folder: &Folder) {
    let mut session = sandbox.session(folder, Limits::default()).await.unwrap();
    let mut times = Vec::new();
    for _ in 0..1000 {
        let began = Instant::now();
        session.run("x = 1\nx + 1", |_, _| {}).await.unwrap();
        times.push(millis(began));
    }
    print_row("a cell of a warm session", times);
    // Long enough to see what a session takes that does nothing.
    let before = ticks_of_children();
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    println!(
        "an idle session: {} ticks of the processor in 5 s",
        ticks_of_children() - before
    );
    for (name, kb) in memory_of_children() {
        println!("  {name}: {kb} kB of its own");
    }
}

/// What it takes to watch many processes.
async fn watcher(sandbox: &Sandbox, folder: &Folder) {
    for (name, script) in [
        (
            "62 shells that sleep",
            "i=0; while [ $i -lt 31 ]; do (sleep 8; :) & i=$((i + 1)); done; wait",
        ),
        ("one that sleeps", "sleep 8"),
    ] {
        let command = sandbox.shell(folder, script);
        let mut runs = tokio::task::JoinSet::new();
        runs.spawn(async move { command.run(|_, _| {}).await.unwrap() });
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        let before = ticks_of_children();
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        println!(
            "watching {name}: {} ticks of the processor in 5 s",
            ticks_of_children() - before
        );
        println!(
            "  ended: {}",
            runs.join_next().await.unwrap().unwrap().ended
        );
    }
}

async fn row<F: Future<Output = ()>>(name: &str, count: usize, mut work: impl FnMut() -> F) {
    let mut times = Vec::new();
    for _ in 0..count {
        let began = Instant::now();
        work().await;
        times.push(millis(began));
    }
    print_row(name, times);
}

fn print_row(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name}: median {median:.2} ms, 99th percentile {late:.2} ms");
}

fn millis(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

/// The processes of the sandbox, by the user they run as and their parents.
fn sandboxed() -> Vec<PathBuf> {
    let word = |path: &Path| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default();
    let entries = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    entries
        .filter(|path| {
            ["glasshouse-sandbox", "/run/session.py"]
                .iter()
                .any(|name| word(path).contains(name))
        })
        .collect()
}

fn ticks_of_children() -> u64 {
    let stats = sandboxed()
        .into_iter()
        .filter_map(|path| std::fs::read_to_string(path.join("stat")).ok());
    let fields = stats.map(|stat| stat.rsplit_once(')').unwrap().1.to_owned());
    fields
        .map(|text| {
            text.split_whitespace()
                .skip(11)
                .take(2)
                .map(|field| field.parse::<u64>().unwrap())
                .sum::<u64>()
        })
        .sum()
}

fn memory_of_children() -> Vec<(String, u64)> {
    let read = |path: PathBuf| {
        let name = std::fs::read_to_string(path.join("cmdline"))
            .ok()?
            .replace('\0', " ");
        let rollup = std::fs::read_to_string(path.join("smaps_rollup")).ok()?;
        let own = rollup.lines().filter(|line| line.starts_with("Private_"));
        Some((
            name,
            own.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
                .sum(),
        ))
    };
    sandboxed().into_iter().filter_map(read).collect()
}
