"""Memory of the kernel: sets of semaphores."""
import ctypes, os, time

libc = ctypes.CDLL(None, use_errno=True)
for number in range(250):
    if libc.semget(0, 32000, 0o600) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("sets", number + 1, flush=True)
time.sleep(1)
