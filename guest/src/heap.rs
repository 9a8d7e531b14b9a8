//! The guest's memory: small blocks in size classes, large ones as mappings of their own.
//!
//! A large block goes back to the kernel when it is freed, so the guest is small again after a burst.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

use crate::sys::{Result, syscall};

const SMALLEST: usize = 16;
/// Blocks of 16, 32, … 2,048 bytes; larger ones are mapped by pages.
const CLASSES: usize = 8;
const PAGE: usize = 4096;
/// Asked of the kernel at a time for small blocks; pages are only real once touched.
const CHUNK: usize = 64 * 1024;

struct Free {
    lists: [*mut u8; CLASSES],
    fresh: *mut u8,
    left: usize,
}

/// An allocator for a program with one thread.
pub struct Heap(UnsafeCell<Free>);

// SAFETY: the guest has one thread, and a child that shares its memory never allocates.
unsafe impl Sync for Heap {}

impl Heap {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Heap {
        Heap(UnsafeCell::new(Free { lists: [null_mut(); CLASSES], fresh: null_mut(), left: 0 }))
    }
}

/// The class that holds `layout`, or none if it is for a mapping.
fn class(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST);
    let class = size.next_power_of_two().trailing_zeros() - SMALLEST.trailing_zeros();
    (class < CLASSES as u32).then_some(class as usize)
}

fn pages(size: usize) -> usize {
    (size + PAGE - 1) & !(PAGE - 1)
}

fn map(size: usize) -> Result<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new anonymous mapping touches nothing that exists.
    unsafe { syscall!(libc::SYS_mmap, 0, size, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1isize, 0) }
}

impl Free {
    fn take(&mut self, class: usize) -> *mut u8 {
        let head = self.lists[class];
        if head.is_null() {
            return self.carve(SMALLEST << class);
        }
        // SAFETY: a free block holds the pointer to the next one in its first word.
        self.lists[class] = unsafe { *head.cast::<*mut u8>() };
        head
    }

    fn carve(&mut self, size: usize) -> *mut u8 {
        if self.left < size {
            // What is left of the old chunk, at most 2 KiB, is given up.
            let Ok(chunk) = map(CHUNK) else { return null_mut() };
            (self.fresh, self.left) = (chunk as *mut u8, CHUNK);
        }
        // SAFETY: `left` says that the end of the chunk holds `size` more bytes.
        // Taken from the end: chunk sizes are powers of two, so each block is aligned to the words we need.
        let block = unsafe { self.fresh.add(self.left - size) };
        let aligned = (block as usize & !(size - 1)) as *mut u8;
        if (aligned as usize) < self.fresh as usize {
            self.left = 0;
            return self.carve(size);
        }
        self.left = aligned as usize - self.fresh as usize;
        aligned
    }
}

// SAFETY: blocks are disjoint, at least as large as asked and aligned to their size class or to a page.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class(layout) {
            // SAFETY: one thread, and the reference does not outlive the call.
            Some(class) => unsafe { &mut *self.0.get() }.take(class),
            None if layout.align() > PAGE => null_mut(),
            None => map(pages(layout.size())).map_or(null_mut(), |address| address as *mut u8),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match class(layout) {
            Some(class) => {
                // SAFETY: one thread; the block is free, so its first word is ours.
                unsafe {
                    let free = &mut *self.0.get();
                    *block.cast::<*mut u8>() = free.lists[class];
                    free.lists[class] = block;
                }
            }
            None => {
                // SAFETY: the block is a mapping of exactly this many pages.
                let _ = unsafe { syscall!(libc::SYS_munmap, block, pages(layout.size())) };
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises a valid size for this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(layout), class(wanted)) {
            (Some(old), Some(new)) if old == new => block,
            (None, None) => {
                let (old, new) = (pages(layout.size()), pages(size));
                // SAFETY: the block is a mapping of `old` bytes; the kernel may move it.
                unsafe { syscall!(libc::SYS_mremap, block, old, new, libc::MREMAP_MAYMOVE) }
                    .map_or(null_mut(), |address| address as *mut u8)
            }
            _ => {
                // SAFETY: both blocks hold the smaller size, and they are disjoint.
                unsafe {
                    let moved = self.alloc(wanted);
                    if !moved.is_null() {
                        core::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}
