"""Pages of shared anonymous memory that no process has mapped."""
import ctypes, mmap, time

libc = ctypes.CDLL(None, use_errno=True)
kept = []
for _ in range(3):
    memory = mmap.mmap(-1, 1 << 30, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    kept.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for start in range(0, 1 << 30, 64 << 20):
        ctypes.memset(address + start, 1, 64 << 20)
        libc.madvise(ctypes.c_void_p(address + start), ctypes.c_size_t(64 << 20), 4)
    print("GB", len(kept), flush=True)
time.sleep(2)
