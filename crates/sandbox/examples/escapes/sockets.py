"""Memory of the kernel: data that nobody reads."""
import os, socket, time

for _ in range(20):
    if os.fork() == 0:
        pairs = []
        for _ in range(110):
            pair = socket.socketpair()
            pairs.append(pair)
            for end in pair:
                end.setblocking(False)
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                except OSError:
                    pass
                try:
                    while True:
                        end.send(b"x" * 16384)
                except BlockingIOError:
                    pass
        time.sleep(5)
        os._exit(0)
time.sleep(4)
