//! Memory, files and processor time that no process has on its account: counted all the same, or not to be had.

use sandbox::{Ended, Limit, Limits};

use crate::support::{lost, place, run, value};

const MIB: u64 = 1024 * 1024;

/// Ends well, or for this limit.
async fn ends(limits: Limits, script: &str, expected: Ended) {
    let place = place().await;
    let outcome = run(place.python(script).limits(limits)).await;
    assert_eq!(
        outcome.ended, expected,
        "{script}\n{}{}",
        outcome.stdout.text, outcome.stderr.text
    );
}

fn memory() -> Limits {
    Limits {
        memory_bytes: 100 * MIB,
        ..Limits::default()
    }
}

fn folder() -> Limits {
    Limits {
        folder_bytes: 10 * MIB,
        file_bytes: 4 * MIB,
        ..Limits::default()
    }
}

const OVER_MEMORY: Ended = Ended::Limit(Limit::Memory);
const OVER_FOLDER: Ended = Ended::Limit(Limit::FolderSize);

#[tokio::test]
async fn shared_memory_that_nobody_has_mapped_does_not_escape() {
    // Where a control group counts it, it is too much; otherwise there is none.
    let script = "
import ctypes, mmap, time
libc = ctypes.CDLL(None)
try: memory = mmap.mmap(-1, 300 << 20)
except PermissionError: raise SystemExit(7)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for start in range(0, 300 << 20, 10 << 20):
    ctypes.memset(address + start, 1, 10 << 20)
    libc.madvise(ctypes.c_void_p(address + start), ctypes.c_size_t(10 << 20), 4)
time.sleep(60)";
    let place = place().await;
    let outcome = run(place.python(script).limits(memory())).await;
    assert!(
        matches!(outcome.ended, OVER_MEMORY | Ended::Exit(7)),
        "{:?}",
        outcome.ended
    );
    // The other name of the same memory.
    let zero = "
import mmap
file = open('/dev/zero', 'rb')
assert file.read(5) == bytes(5)
memory = mmap.mmap(file.fileno(), 300 << 20, mmap.MAP_SHARED, mmap.PROT_READ)
sum(memory[at] for at in range(0, 300 << 20, 4096))";
    ends(memory(), zero, Ended::Signal(libc::SIGBUS)).await;
}

#[tokio::test]
async fn a_file_in_memory_counts_once() {
    let script = "
import mmap, os, time
size = 60 << 20
file = open('/dev/shm/x', 'w+b')
file.truncate(size)
memory = mmap.mmap(file.fileno(), size)
for _ in range(4):
    if os.fork() == 0: break
for at in range(0, size, 4096): memory[at] = 1
time.sleep(1)";
    ends(
        Limits {
            memory_bytes: 200 * MIB,
            ..Limits::default()
        },
        script,
        Ended::Exit(0),
    )
    .await;
    ends(memory(), &script.replace("60 <<", "110 <<"), OVER_MEMORY).await;
}

#[tokio::test]
async fn memory_of_a_process_without_its_first_thread_counts() {
    let script = "
import ctypes, os, threading, time
def eat():
    time.sleep(0.3)
    kept = []
    for _ in range(6):
        kept.append(bytearray(15_000_000))
        time.sleep(0.1)
    time.sleep(60)
for _ in range(3):
    if os.fork() == 0:
        threading.Thread(target=eat).start()
        ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)
time.sleep(60)";
    ends(
        Limits {
            memory_bytes: 150 * MIB,
            ..Limits::default()
        },
        script,
        OVER_MEMORY,
    )
    .await;
}

#[tokio::test]
async fn memory_of_the_kernel_is_limited() {
    let sockets = "
import socket, time
kept = []
while len(kept) < 110:
    kept.append(socket.socketpair())
    for end in kept[-1]:
        end.setblocking(False)
        try:
            while True: end.send(b'x' * 16384)
        except BlockingIOError: pass
time.sleep(60)";
    ends(
        memory(),
        &format!("import os\nos.fork()\n{sockets}"),
        OVER_MEMORY,
    )
    .await;
    let locks = "
import fcntl, time
file = open('locked', 'w')
for place in range(60_000, 0, -2): fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
time.sleep(60)";
    ends(Limits::default(), locks, OVER_MEMORY).await;
}

#[tokio::test]
async fn what_could_not_be_counted_is_not_to_be_had() {
    let script = r#"
import ctypes, errno, fcntl, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def name_of(number): return 'ENOTSUP' if number == errno.EOPNOTSUPP else errno.errorcode[number]
def says(name, *arguments):
    got = getattr(libc, name)(*arguments)
    return name_of(ctypes.get_errno()) if got == -1 else 'done'
def attempt(work):
    try: return work() or 'done'
    except OSError as error: return name_of(error.errno)
read, write = os.pipe()
file = os.open('f', os.O_RDWR | os.O_CREAT)
os.write(file, b'some text')
end, other = socket.socketpair()
print(says('vmsplice', write, None, 0, 0), says('tee', read, write, 1, 0),
    says('splice', file, None, write, None, 1, 0), attempt(lambda: os.sendfile(end.fileno(), file, 0, 1)))
print(says('semget', 0, 10, 0o600), says('msgget', 0, 0o600), says('shmget', 0, 4096, 0o600),
    says('inotify_init'), says('inotify_init1', 0), says('memfd_create', b'x', 0))
print(attempt(lambda: fcntl.fcntl(write, 1031, 1 << 20)),
    attempt(lambda: end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)),
    attempt(lambda: end.setsockopt(socket.SOL_SOCKET, 26, bytes(16))),
    attempt(lambda: os.setxattr('f', 'user.x', b'y')), says('prctl', 4, 0, 0, 0, 0),
    attempt(lambda: fcntl.fcntl(file, 37, struct.pack('hhqqi4x', 1, 0, 0, 1, 0))),
    says('close_range', 200, 210, 2), says('close_range', 200, 210, 0), says('prctl', 4, 1, 0, 0, 0))
"#;
    let place = place().await;
    assert_eq!(
        place.printed(script).await,
        "EINVAL EINVAL EINVAL EINVAL\nENOSYS ENOSYS ENOSYS ENOSYS ENOSYS ENOSYS\n\
         EPERM EPERM EPERM ENOTSUP EPERM EINVAL ENOSYS done done\n"
    );
}

#[tokio::test]
async fn deleted_files_count_wherever_they_are_held() {
    let file = "
import ctypes, mmap, os, socket, threading, time
def deleted(size=4_000_000):
    file = os.open('f', os.O_RDWR | os.O_CREAT)
    os.unlink('f')
    os.write(file, b'x' * size)
    return file
one, other = socket.socketpair()
";
    for hidden in [
        // On their way.
        "
for _ in range(5):
    file = deleted()
    socket.send_fds(one, [b'x'], [file])
    os.close(file)",
        // On their way in a socket that is on its way itself.
        "
inner, inner_other = socket.socketpair()
for _ in range(5):
    file = deleted()
    socket.send_fds(inner, [b'x'], [file])
    os.close(file)
socket.send_fds(one, [b'x'], [inner_other.fileno()])
inner.close(); inner_other.close()",
        // Only mapped, and of that only the first page.
        "
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for _ in range(5):
    file = deleted()
    assert libc.mmap(None, 4096, 1, 1, file, 0) not in (None, 2**64 - 1)
    os.close(file)",
        // In a process whose first thread has ended.
        "
def hold():
    kept = [deleted() for _ in range(5)]
    time.sleep(60)
if os.fork() == 0:
    threading.Thread(target=hold).start()
    time.sleep(0.3)
    ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)",
    ] {
        ends(
            folder(),
            &format!("{file}{hidden}\ntime.sleep(60)"),
            OVER_FOLDER,
        )
        .await;
    }
}

#[tokio::test]
async fn a_process_that_cannot_be_looked_into_is_ended() {
    // A copy that nobody may read: the kernel then shows nothing of whoever runs it.
    let script = "
import os, shutil, sys, time
shutil.copy('/bin/sleep', 'sleep')
os.chmod('sleep', 0o111)
if os.fork() == 0: os.execv('sleep', ['sleep', '60'])
time.sleep(60)";
    ends(Limits::default(), script, OVER_FOLDER).await;
}

#[tokio::test]
async fn a_session_does_not_rest_on_what_cannot_be_counted() {
    let place = place().await;
    let mut session = place.session(folder()).await;
    let code = "
import os, socket
one, other = socket.socketpair()
def send():
    file = os.open('f', os.O_RDWR | os.O_CREAT)
    os.unlink('f')
    os.write(file, b'x' * 4_000_000)
    socket.send_fds(one, [b'x'], [file])
    os.close(file)
send()";
    value(&mut session, code).await;
    assert_eq!(
        value(&mut session, "1 + 1").await,
        "2",
        "one of them may still be small enough"
    );
    let why = lost(&mut session, "send(); send()").await;
    assert!(why.contains("too much into its folder"), "{why}");
}

#[tokio::test]
async fn processor_time_counts_whoever_waits_for_it() {
    let children = "
import os, signal, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
    os._exit(0)
def spawn(seconds):
    read, write = os.pipe()
    if os.fork() == 0: burn(seconds)
    os.close(write)
    return read
";
    for (ignored, seconds) in [(true, "0.02"), (true, "0.3"), (false, "0.02")] {
        let how = if ignored {
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
        } else {
            ""
        };
        let wait = if ignored { "" } else { "    os.wait()\n" };
        let script = format!(
            "{children}{how}\nwhile True:\n    read = spawn({seconds})\n    os.read(read, 1)\n    os.close(read)\n{wait}"
        );
        let limits = Limits {
            cpu_seconds: 2,
            ..Limits::default()
        };
        ends(limits, &script, Ended::Limit(Limit::Cpu)).await;
    }
    // Those that somebody waits for count once.
    let script = format!(
        "{children}while sum(os.times()[:4]) < 2.5:\n    \
         read = spawn(0.01)\n    os.wait()\n    os.close(read)"
    );
    ends(
        Limits {
            cpu_seconds: 4,
            ..Limits::default()
        },
        &script,
        Ended::Exit(0),
    )
    .await;
}

#[tokio::test]
async fn processes_that_share_and_pass_things_on_work() {
    let script = "
import multiprocessing, socket, shutil, os, tempfile
from multiprocessing import shared_memory
def add(value, array, lock):
    with lock: value.value += 1
    array[0] += 2
def through(connection):
    socket.socket(fileno=connection.recv().detach()).send(b'passed')
def main():
    for method in ('fork', 'forkserver', 'spawn'):
        context = multiprocessing.get_context(method)
        value, array, lock = context.Value('i', 0), context.Array('i', 3), context.Lock()
        work = context.Process(target=add, args=(value, array, lock))
        work.start(); work.join()
        with context.Pool(2) as pool: print(method, value.value, array[0], pool.map(abs, [-1, -2]))
    memory = shared_memory.SharedMemory(create=True, size=1000)
    memory.buf[0] = 7
    again = shared_memory.SharedMemory(memory.name)
    print(again.buf[0])
    again.close(); memory.close(); memory.unlink()
    near, far = socket.socketpair()
    ours, theirs = multiprocessing.Pipe()
    work = multiprocessing.get_context('fork').Process(target=through, args=(theirs,))
    work.start(); ours.send(far); work.join()
    print(near.recv(6))
    with tempfile.NamedTemporaryFile() as file:
        file.write(b'x' * 100_000); file.flush()
        shutil.copy2(file.name, 'copied')
    print(os.path.getsize('copied'))
if __name__ == '__main__': main()";
    let place = place().await;
    place.folder.put("shares.py", script.as_bytes()).unwrap();
    let outcome = run(place
        .sandbox
        .command(&place.folder, "python3")
        .arg("shares.py"))
    .await;
    let expected =
        "fork 1 2 [1, 2]\nforkserver 1 2 [1, 2]\nspawn 1 2 [1, 2]\n7\nb'passed'\n100000\n";
    assert_eq!(
        outcome.stdout.text, expected,
        "{:?} {}",
        outcome.ended, outcome.stderr.text
    );
}
