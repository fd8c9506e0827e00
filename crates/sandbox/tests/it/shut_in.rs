//! What a program cannot see and cannot reach.

use std::{fs, net::TcpListener, process::Command};

use sandbox::{Ended, Options, Sandbox, Unavailable};

use crate::support::{options, place, place_with, run};

/// Prints the kind of error, or what came.
const TRY: &str = "
def attempt(work):
    try: print('got', work())
    except Exception as error: print(type(error).__name__, getattr(error, 'errno', ''))
";

async fn tried(expressions: &[&str]) -> Vec<String> {
    let place = place().await;
    let mut script = format!("import os, socket, ctypes, subprocess, resource\n{TRY}");
    for expression in expressions {
        script.push_str(&format!("attempt(lambda: {expression})\n"));
    }
    place
        .printed(&script)
        .await
        .lines()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn there_is_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let here = format!(
        "socket.create_connection(('127.0.0.1', {}), 2)",
        address.port()
    );
    let results = tried(&[
        &here,
        "socket.create_connection(('192.0.2.1', 80), 2)",
        "socket.getaddrinfo('example.org', 80)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        // Not shut in by a network namespace, so not to be had at all.
        "socket.socket(40, socket.SOCK_STREAM)",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        // A name in the network namespace, not a file.
        "socket.socket(socket.AF_UNIX).connect('\\0glasshouse-test')",
    ])
    .await;
    assert_eq!(
        results,
        [
            "OSError 101",
            "OSError 101",
            "gaierror -2",
            "OSError 101",
            "OSError 38",
            "OSError 38",
            "ConnectionRefusedError 111"
        ]
    );
}

#[tokio::test]
async fn the_host_cannot_be_seen() {
    let results = tried(&[
        "open('/etc/shadow').read()",
        "os.listdir('/root/.ssh')",
        "os.listdir('/var/log')",
        "os.listdir('/sys')",
        "open('/proc/1/environ').read()",
        "os.readlink('/proc/1/exe')",
        "open('/proc/1/mem', 'rb')",
        "os.listdir('/proc/1/root')",
        "open('/proc/sys/kernel/core_pattern', 'w')",
        "open('/dev/mem')",
        "open('/dev/vda')",
    ])
    .await;
    let gone = "FileNotFoundError 2";
    let closed = "PermissionError 13";
    let read_only = "PermissionError 13";
    assert_eq!(
        results,
        [
            gone, gone, gone, gone, closed, closed, closed, closed, read_only, gone, gone
        ],
        "{results:?}"
    );
}

#[tokio::test]
async fn data_and_environment_of_the_server_cannot_be_seen() {
    let base = tempfile::tempdir().unwrap();
    fs::write(base.path().join("secret"), "of the data folder").unwrap();
    let hidden = vec![base.path().to_owned()];
    let place = place_with(Options {
        hidden,
        ..options()
    })
    .await;
    let path = base.path().display();
    let script = format!("import os; print(os.path.exists('{path}'), sorted(os.environ))");
    let printed = place.printed(&script).await;
    assert_eq!(
        printed.trim(),
        "False ['HOME', 'LANG', 'MALLOC_ARENA_MAX', 'MPLBACKEND', 'MPLCONFIGDIR', 'OMP_NUM_THREADS', \
         'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONUNBUFFERED', 'TERM', 'TEXMFVAR', 'TMPDIR', \
         'TZ', 'USER', 'XDG_CACHE_HOME']"
    );
}

#[tokio::test]
async fn a_hidden_folder_below_a_shown_one_is_covered() {
    let hidden = vec!["/usr/lib".into(), "/usr/share/doc".into()];
    // Python needs the first one, so that this sandbox is none.
    let error = Sandbox::find(Options {
        hidden,
        ..options()
    })
    .await
    .unwrap_err();
    assert!(
        matches!(error, Unavailable::Kernel(_) | Unavailable::Broken(_)),
        "{error}"
    );
    let place = place_with(Options {
        hidden: vec!["/usr/share/doc".into()],
        ..options()
    })
    .await;
    assert!(
        fs::read_dir("/usr/share/doc").unwrap().count() > 0,
        "the test needs something there"
    );
    assert_eq!(
        place
            .printed("import os; print(os.listdir('/usr/share/doc'))")
            .await,
        "[]\n"
    );
}

#[tokio::test]
async fn other_processes_cannot_be_seen() {
    let place = place().await;
    let printed = place
        .printed("import os; print([p for p in os.listdir('/proc') if p.isdigit()])")
        .await;
    assert_eq!(printed, "['1', '2']\n");
    let mine = std::process::id();
    let results = tried(&[
        &format!("os.kill({mine}, 0)"),
        "os.kill(1, 9)",
        "os.getppid()",
    ])
    .await;
    // The first process takes no signal from below.
    assert_eq!(results, ["ProcessLookupError 3", "got None", "got 1"]);
}

#[tokio::test]
async fn nothing_outside_the_folder_can_be_written() {
    let script =
        "for f in /x /etc/x /usr/x /root/x /dev/x /run/x /proc/x /run/session.py /etc/passwd; do
        (echo x > $f) 2>/dev/null && echo wrote $f; done
        echo in > /files/in && echo tmp > /tmp/tmp && echo done";
    let place = place().await;
    let outcome = run(place.sandbox.shell(&place.folder, script)).await;
    assert_eq!(outcome.stdout.text, "done\n");
    assert_eq!(place.folder.read("in", 100).unwrap(), b"in\n");
    assert!(!fs::exists("/tmp/tmp").unwrap());
}

#[tokio::test]
async fn there_are_no_rights_to_be_had() {
    let place = place().await;
    let printed = place
        .printed("import os; s = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines() if ':\\t' in l)\nprint(os.getuid(), os.getgroups(), s['CapEff'], s['CapBnd'], s['NoNewPrivs'], s['Seccomp'])")
        .await;
    let [uid, rest] = printed
        .trim()
        .splitn(2, ' ')
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert_eq!(uid, "1000");
    assert!(
        rest.ends_with("0000000000000000 0000000000000000 1 2"),
        "{rest}"
    );
    let results = tried(&[
        "os.setuid(0)",
        "subprocess.run(['unshare', '-Ur', 'true'], check=True, stderr=-3)",
        "subprocess.run(['mount', '-t', 'tmpfs', 'x', '/tmp'], check=True, stderr=-3)",
        "os.chmod('/files', 0o6777)",
        "os.close(os.open('/files/s', os.O_CREAT, 0o4755))",
        "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "os.setpriority(os.PRIO_USER, 0, 19)",
        "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
        "os.chroot('/files')",
        "ctypes.CDLL(None).ptrace(16, 1, 0, 0)",
        "os.mknod('/files/null', 0o20666, os.makedev(1, 3))",
        "os.chown('/files', 0, 0)",
    ])
    .await;
    let (absent, failed) = ("OSError 38", "CalledProcessError ");
    assert_eq!(results[..3], ["OSError 22", failed, failed]);
    assert_eq!(results[3..10], [absent; 7]);
    assert_eq!(results[10], "got -1");
    assert!(
        results[11].starts_with("PermissionError") && results[12].starts_with("OSError 22"),
        "{results:?}"
    );
    let allowed = [
        "os.chmod('/files', 0o755)",
        "os.nice(1)",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))",
    ];
    assert_eq!(tried(&allowed).await, ["got None", "got 11", "got None"]);
    // The first process goes on whatever it is told.
    let signals =
        "import os, time\nfor n in range(1, 32): os.kill(1, n)\ntime.sleep(0.2)\nprint('on')";
    assert_eq!(place.printed(signals).await, "on\n");
}

#[tokio::test]
async fn ordinary_work_is_possible() {
    let place = place().await;
    let printed = place
        .printed(
            "import multiprocessing, subprocess, sqlite3, tempfile, threading, getpass, random, zoneinfo
def main():
    with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2]))
    print(subprocess.run('echo hi | tr a-z A-Z', shell=True, capture_output=True, text=True).stdout.strip())
    with tempfile.NamedTemporaryFile() as file: print(file.name.startswith('/tmp/'))
    thread = threading.Thread(target=lambda: print('thread')); thread.start(); thread.join()
    print(sqlite3.connect('/files/a.db').execute('select 7').fetchone(), getpass.getuser())
main()",
        )
        .await;
    assert_eq!(printed, "[1, 2]\nHI\nTrue\nthread\n(7,) user\n");
    let outcome = run(place
        .sandbox
        .shell(&place.folder, "cat; echo err >&2; exit 7"))
    .await;
    assert_eq!(
        (outcome.ended, outcome.stderr.text.as_str()),
        (Ended::Exit(7), "err\n")
    );
}

#[tokio::test]
async fn files_of_the_server_are_not_handed_down() {
    // Open in this process, and on purpose not closed by what starts a program.
    let base = tempfile::tempdir().unwrap();
    let file = fs::File::create(base.path().join("open")).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let place = place().await;
    let printed = place
        .printed("import os; print(os.listdir('/proc/self/fd'), os.readlink('/proc/self/fd/0'))")
        .await;
    // The fourth is the list itself.
    assert_eq!(printed, "['0', '1', '2', '3'] /dev/null\n");
}

#[tokio::test]
async fn a_python_of_its_own_below_tmp_is_shown() {
    let base = tempfile::tempdir_in("/tmp").unwrap();
    let python = options().python.unwrap_or_else(|| "python3".into());
    let made = Command::new(&python)
        .args(["-m", "venv", "--without-pip"])
        .arg(base.path().join("env"))
        .status();
    if !made.unwrap().success() {
        // Debian's own Python has no venv; then the links of one will do.
        fs::create_dir_all(base.path().join("env/bin")).unwrap();
        std::os::unix::fs::symlink(&python, base.path().join("env/bin/python")).unwrap();
        fs::write(base.path().join("env/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    }
    fs::write(base.path().join("beside"), "").unwrap();
    let place = place_with(Options {
        python: Some(base.path().join("env/bin/python")),
        ..options()
    })
    .await;
    let script = format!(
        "import os, sys; print(sys.prefix, os.listdir('{}'))",
        base.path().display()
    );
    let outcome = run(place
        .sandbox
        .command(&place.folder, "python")
        .arg("-c")
        .arg(script))
    .await;
    assert_eq!(
        outcome.stdout.text,
        format!("{0}/env ['env']\n", base.path().display())
    );
}

#[tokio::test]
async fn why_there_is_none_is_said() {
    let missing = Options {
        python: Some("/nowhere/python3".into()),
        ..options()
    };
    let error = Sandbox::find(missing).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "There is no Python 3 to use: /nowhere/python3: No such file or directory (os error 2)."
    );
    let no_helper = Options {
        helper: Some("/bin/true".into()),
        ..options()
    };
    let error = Sandbox::find(no_helper).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "The kernel does not allow a sandbox here: its helper ended without a word."
    );
    let root = Options {
        user: 0,
        ..options()
    };
    assert!(Sandbox::find(root).await.is_err());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let place = place().await;
    let error = place
        .sandbox
        .command(&place.folder, "/no/such")
        .run(|_, _| {})
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the sandbox could not be made: could not start /no/such: No such file or directory (os error 2)"
    );
    let long = place
        .sandbox
        .shell(&place.folder, &"x".repeat(200_000))
        .run(|_, _| {})
        .await
        .unwrap_err();
    assert!(long.to_string().starts_with("this is too long"), "{long}");
}
