"""Memory of a process whose first thread has ended."""
import ctypes, os, threading, time

libc = ctypes.CDLL(None)
for _ in range(2):
    if os.fork() == 0:

        def eat():
            time.sleep(0.3)
            kept = bytearray(900_000_000)
            time.sleep(3)
            os._exit(0)

        threading.Thread(target=eat).start()
        # exit(2), of this thread alone.
        libc.syscall(60, 0)
time.sleep(3)
