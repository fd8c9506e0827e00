"""Two short children at a time that burn processor time and that nobody waits for."""
import os, signal, time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    with open("burnt", "ab") as file:
        file.write(b"x" * round(seconds * 100))
    os._exit(0)


def spawn():
    read, write = os.pipe()
    if os.fork() == 0:
        burn(0.02)
    os.close(write)
    return read


one, two = spawn(), spawn()
while True:
    os.read(one, 1)
    os.close(one)
    one, two = two, spawn()
