"""Deleted files whose descriptors only a socket holds."""
import os, socket, time

one, other = socket.socketpair()
for number in range(12):
    file = os.open("f", os.O_RDWR | os.O_CREAT)
    os.unlink("f")
    for _ in range(100):
        os.write(file, b"x" * 1_000_000)
    socket.send_fds(one, [b"x"], [file])
    os.close(file)
    print("files", number + 1, flush=True)
time.sleep(3)
