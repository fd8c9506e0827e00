"""Huge pages that only pipes hold."""
import ctypes, mmap, os, time

libc = ctypes.CDLL(None, use_errno=True)
HUGE = 2 << 20


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


pipes = []
for _ in range(100):
    pipes.append(os.pipe())
    memory = mmap.mmap(-1, 17 * HUGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    holder = ctypes.c_char.from_buffer(memory)
    first = (ctypes.addressof(holder) + HUGE - 1) // HUGE * HUGE
    for page in range(16):
        ctypes.memset(first + page * HUGE, 1, HUGE)
        vector = Vector(first + page * HUGE, 4096)
        if libc.vmsplice(pipes[-1][1], ctypes.byref(vector), 1, 0) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    del holder
    memory.close()
print("pipes", len(pipes), flush=True)
time.sleep(2)
