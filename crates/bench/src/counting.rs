//! An allocator that counts the allocations of each thread.

use std::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
};

use tikv_jemallocator::Jemalloc;

/// A counting wrapper of the program's allocator.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Number of allocations and reallocations of this thread since it started.
pub(crate) fn allocations() -> u64 {
    COUNT.get()
}

fn note() {
    COUNT.set(COUNT.get() + 1);
}

#[expect(
    unsafe_code,
    reason = "an allocator is unsafe by its nature; everything is handed on as it comes"
)]
// SAFETY: each call is forwarded to jemalloc under the caller's own guarantees.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { Jemalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { Jemalloc.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { Jemalloc.realloc(memory, layout, new_size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { Jemalloc.dealloc(memory, layout) }
    }
}
