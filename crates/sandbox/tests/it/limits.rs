//! What ends a program that uses up too much.

use std::time::{Duration, Instant};

use sandbox::{Ended, Limit, Limits, Stream};

use crate::support::{marker, place, processes_with, run, until};

const MIB: u64 = 1024 * 1024;

async fn ended(limits: Limits, script: &str) -> Ended {
    let place = place().await;
    let began = Instant::now();
    let outcome = run(place.python(script).limits(limits)).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{script}");
    outcome.ended
}

#[tokio::test]
async fn one_process_is_refused_memory() {
    let limits = Limits {
        memory_bytes: 100 * MIB,
        ..Limits::default()
    };
    let script = "
try: bytearray(200 * 1024 * 1024)
except MemoryError: print('refused')
open('/dev/shm/small', 'w').write('x')";
    let place = place().await;
    assert_eq!(
        run(place.python(script).limits(limits)).await.stdout.text,
        "refused\n"
    );
}

#[tokio::test]
async fn memory_of_all_together_is_limited() {
    let limits = || Limits {
        memory_bytes: 100 * MIB,
        ..Limits::default()
    };
    let processes = "
import os, time
for n in range(8): os.fork() or (bytearray(40 * 1024 * 1024), time.sleep(60))
kept = 0
time.sleep(60)";
    let script = processes.replace("(bytearray(40 * 1024 * 1024), time.sleep(60))", "hold()").replace(
        "import os, time",
        "import os, time\ndef hold():\n    kept = b'x' * (40 * 1024 * 1024)\n    time.sleep(60)",
    );
    assert_eq!(ended(limits(), &script).await, Ended::Limit(Limit::Memory));
    let files = "
import time
for n in range(12): open(f'/dev/shm/{n}', 'wb').write(b'x' * 10_000_000)
time.sleep(60)";
    assert_eq!(ended(limits(), files).await, Ended::Limit(Limit::Memory));
}

#[tokio::test]
async fn processor_time_is_limited() {
    let limits = || Limits {
        cpu_seconds: 1,
        ..Limits::default()
    };
    assert_eq!(
        ended(limits(), "while True: pass").await,
        Ended::Limit(Limit::Cpu)
    );
    // That of all together, also of those that are gone.
    let many = "
import os, time
while True:
    if os.fork() == 0:
        end = time.process_time() + 0.2
        while time.process_time() < end: pass
        os._exit(0)
    os.wait()";
    assert_eq!(ended(limits(), many).await, Ended::Limit(Limit::Cpu));
}

#[tokio::test]
async fn processes_are_limited() {
    let place = place().await;
    let limits = Limits {
        processes: 10,
        ..Limits::default()
    };
    let script = "
import os, time
made = 0
try:
    while made < 1000:
        if os.fork() == 0: time.sleep(60)
        made += 1
except BlockingIOError: pass
print(made)";
    // The helper and the first Python count as well.
    let outcome = run(place.python(script).limits(limits.clone())).await;
    assert_eq!(
        (outcome.stdout.text.as_str(), outcome.ended),
        ("8\n", Ended::Exit(0))
    );
    // Two at once do not count for each other.
    let both = tokio::join!(
        run(place.python(script).limits(limits.clone())),
        run(place.python(script).limits(limits))
    );
    assert_eq!(
        (both.0.stdout.text.as_str(), both.1.stdout.text.as_str()),
        ("8\n", "8\n")
    );
}

#[tokio::test]
async fn a_fork_bomb_is_over_with_its_time() {
    let place = place().await;
    let marker = &marker(30);
    let script =
        format!("bomb() {{ bomb {marker} | bomb {marker} & }}; bomb; while :; do bomb; done");
    let limits = Limits {
        wall_ms: 1_500,
        processes: 30,
        ..Limits::default()
    };
    let outcome = run(place.sandbox.shell(&place.folder, &script).limits(limits)).await;
    assert!(
        matches!(outcome.ended, Ended::Limit(_) | Ended::Exit(2)),
        "{:?}",
        outcome.ended
    );
    assert_eq!(processes_with(marker), 0);
}

#[tokio::test]
async fn time_on_the_clock_is_limited() {
    let place = place().await;
    let marker = &marker(31);
    // A child that ignores what can be ignored, one in a session of its own, and one whose parents are gone.
    let script = format!(
        "trap '' TERM HUP INT; (trap '' TERM; sleep {marker}) & setsid sleep {marker} & \
         (setsid sh -c 'sleep {marker} & exit' &) ; echo up; exec sleep {marker}"
    );
    let limits = Limits {
        wall_ms: 500,
        ..Limits::default()
    };
    let mut seen = 0;
    let outcome = place.sandbox.shell(&place.folder, &script).limits(limits);
    let outcome = outcome
        .run(|_, _| seen = processes_with(marker))
        .await
        .unwrap();
    assert_eq!(
        (outcome.ended, outcome.stdout.text.as_str()),
        (Ended::Limit(Limit::Wall), "up\n")
    );
    assert!(
        outcome.time_ms >= 500 && outcome.time_ms < 5_000,
        "{}",
        outcome.time_ms
    );
    assert!(seen > 0, "the test sees them while they run");
    assert_eq!(processes_with(marker), 0);
}

#[tokio::test]
async fn what_goes_on_in_the_background_ends_with_the_program() {
    let place = place().await;
    let marker = &marker(32);
    let outcome = run(place
        .sandbox
        .shell(&place.folder, &format!("sleep {marker} & echo started")))
    .await;
    assert_eq!(
        (outcome.ended, outcome.stdout.text.as_str()),
        (Ended::Exit(0), "started\n")
    );
    until("it is gone", || processes_with(marker) == 0).await;
}

#[tokio::test]
async fn a_flood_of_output_is_counted_and_dropped() {
    let place = place().await;
    let limits = Limits {
        output_bytes: 10_000,
        ..Limits::default()
    };
    let script =
        "import sys\nfor n in range(3000): sys.stdout.write('x' * 9999 + '\\n')\nprint('end')";
    let mut passed = 0;
    let count = |_: Stream, text: &str| passed += text.len();
    let outcome = place
        .python(script)
        .limits(limits)
        .run(count)
        .await
        .unwrap();
    assert_eq!(
        (outcome.ended, outcome.stdout.total_bytes, passed),
        (Ended::Exit(0), 30_000_004, 10_000)
    );
    assert!(outcome.stdout.text.ends_with("x\nend\n") && outcome.stdout.text.len() < 20_000);
}

#[tokio::test]
async fn output_comes_while_the_program_runs() {
    let place = place().await;
    let mut first = None;
    let script = "for i in 1 2; do echo ä$i; echo e$i >&2; sleep 0.3; done";
    let began = Instant::now();
    let outcome = place
        .sandbox
        .shell(&place.folder, script)
        .run(|stream, text| {
            first.get_or_insert((stream, text.to_owned(), began.elapsed()));
        })
        .await
        .unwrap();
    let (_, text, after) = first.unwrap();
    assert!(
        (text == "ä1\n" || text == "e1\n") && after < began.elapsed() / 2,
        "{text} after {after:?}"
    );
    assert_eq!(
        (outcome.stdout.text.as_str(), outcome.stderr.text.as_str()),
        ("ä1\nä2\n", "e1\ne2\n")
    );
}

#[tokio::test]
async fn files_are_limited() {
    let one = Limits {
        file_bytes: MIB,
        ..Limits::default()
    };
    let script = "
try: open('big', 'wb').write(b'x' * 2_000_000)
except OSError as error: print(error.errno)";
    let place = place().await;
    assert_eq!(
        run(place.python(script).limits(one.clone()))
            .await
            .stdout
            .text,
        "27\n"
    );
    let outcome = run(place
        .sandbox
        .shell(&place.folder, "exec head -c 2000000 /dev/zero > big")
        .limits(one))
    .await;
    assert_eq!(outcome.ended, Ended::Limit(Limit::FileSize));

    let total = || Limits {
        folder_bytes: 10 * MIB,
        ..Limits::default()
    };
    let many = "
import time
for n in range(30): open(f'f{n}', 'wb').write(b'x' * 1_000_000)
time.sleep(60)";
    assert_eq!(ended(total(), many).await, Ended::Limit(Limit::FolderSize));
    let deleted = "
import os, time
kept = []
for n in range(30):
    kept.append(open('f', 'wb'))
    kept[-1].write(b'x' * 1_000_000)
    kept[-1].flush()
    os.remove('f')
time.sleep(60)";
    assert_eq!(
        ended(total(), deleted).await,
        Ended::Limit(Limit::FolderSize)
    );
    // Also one that is quick.
    assert_eq!(
        ended(total(), &many.replace("time.sleep(60)", "")).await,
        Ended::Limit(Limit::FolderSize)
    );
    let small = "
import os, time
os.makedirs('a/b')
for n in range(200): open(f'a/b/{n}', 'w')
time.sleep(60)";
    let count = Limits {
        folder_files: 100,
        ..Limits::default()
    };
    assert_eq!(ended(count, small).await, Ended::Limit(Limit::FolderFiles));
    let deep = "
import os, time
for n in range(200): os.mkdir('d'); os.chdir('d')
time.sleep(60)";
    assert_eq!(
        ended(Limits::default(), deep).await,
        Ended::Limit(Limit::FolderFiles)
    );
    let closed = "
import os, time
os.mkdir('d')
for n in range(30): open(f'd/{n}', 'wb').write(b'x' * 1_000_000)
os.chmod('d', 0)
time.sleep(60)";
    assert_eq!(
        ended(total(), closed).await,
        Ended::Limit(Limit::FolderSize)
    );
    let full = Limits {
        disk_free_bytes: u64::MAX,
        ..Limits::default()
    };
    assert_eq!(
        ended(full, "import time; time.sleep(60)").await,
        Ended::Limit(Limit::FolderSize)
    );
    assert_eq!(
        ended(
            Limits {
                open_files: 20,
                ..Limits::default()
            },
            "[open('/dev/null') for n in range(15)]"
        )
        .await,
        Ended::Exit(0)
    );
    assert_eq!(
        ended(
            Limits {
                open_files: 20,
                ..Limits::default()
            },
            "a = [open('/dev/null') for n in range(25)]"
        )
        .await,
        Ended::Exit(1)
    );
}

#[tokio::test]
async fn tmp_is_limited() {
    let limits = Limits {
        tmp_bytes: MIB,
        ..Limits::default()
    };
    let place = place().await;
    let script = "head -c 5000000 /dev/zero > /tmp/big; du -k /tmp/big | cut -f 1";
    let outcome = run(place.sandbox.shell(&place.folder, script).limits(limits)).await;
    assert_eq!(outcome.stdout.text, "1024\n");
}
