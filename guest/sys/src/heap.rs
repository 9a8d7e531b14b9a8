//! Allocator: small blocks in size classes, large blocks as separate mappings.
//!
//! The allocator returns a freed large block to the kernel, so memory shrinks after a burst.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

use crate::{Result, syscall};

const SMALLEST: usize = 16;
/// Blocks of 16, 32, … 2,048 bytes; larger ones are mapped by pages.
const CLASSES: usize = 8;
const PAGE: usize = 4096;
/// Size of a mapping for small blocks. The kernel allocates its pages on first use.
const CHUNK: usize = 64 * 1024;

struct Free {
    lists: [*mut u8; CLASSES],
    fresh: *mut u8,
    left: usize,
}

/// Allocator for a program with one thread.
pub struct Heap(UnsafeCell<Free>);

// SAFETY: the guest has one thread, and a child that shares its memory never allocates.
unsafe impl Sync for Heap {}

impl Heap {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Heap {
        Heap(UnsafeCell::new(Free { lists: [null_mut(); CLASSES], fresh: null_mut(), left: 0 }))
    }
}

/// Size class for `layout`; none if the block needs a mapping.
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
            // The rest of the old chunk, at most 2 KiB, is wasted.
            let Ok(chunk) = map(CHUNK) else { return null_mut() };
            (self.fresh, self.left) = (chunk as *mut u8, CHUNK);
        }
        // SAFETY: the chunk has `left` unused bytes, and `size` is not larger.
        // Blocks come from the end of the chunk. Their sizes are powers of two, so rounding down aligns them.
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
                // SAFETY: one thread; the block is free, so the heap may write its first word.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    /// Allocates a block and fills it with `byte`.
    fn filled(heap: &Heap, layout: Layout, byte: u8) -> *mut u8 {
        // SAFETY: the layout has a size, and the block holds that many bytes.
        unsafe {
            let block = heap.alloc(layout);
            assert!(!block.is_null());
            assert_eq!(block as usize % layout.align(), 0, "{layout:?}");
            block.write_bytes(byte, layout.size());
            block
        }
    }

    fn holds(block: *mut u8, size: usize, byte: u8) -> bool {
        // SAFETY: callers pass a live block and at most its size.
        unsafe { core::slice::from_raw_parts(block, size) }.iter().all(|each| *each == byte)
    }

    #[test]
    fn blocksOfAllSizesAreAlignedAndDisjoint() {
        let heap = Heap::new();
        let layouts: Vec<Layout> = (0..12)
            .flat_map(|align| [1, 15, 16, 17, 100, 2047, 2048, 2049, 5000, 70_000].map(|size| layout(size, 1 << align)))
            .collect();
        let blocks: Vec<*mut u8> = layouts.iter().zip(1..).map(|(layout, byte)| filled(&heap, *layout, byte)).collect();
        for ((layout, block), byte) in layouts.iter().zip(&blocks).zip(1..) {
            assert!(holds(*block, layout.size(), byte), "{layout:?} was overwritten");
            // SAFETY: the block came from this heap with this layout, and is not used again.
            unsafe { heap.dealloc(*block, *layout) };
        }
    }

    #[test]
    fn moreSmallBlocksThanAChunkHoldsAreDisjoint() {
        let heap = Heap::new();
        let each = layout(48, 8);
        let blocks: Vec<*mut u8> = (0..3 * CHUNK / 64).map(|at| filled(&heap, each, at as u8)).collect();
        assert!(blocks.iter().enumerate().all(|(at, block)| holds(*block, 48, at as u8)));
    }

    #[test]
    fn aFreedBlockIsUsedForTheNextOneOfItsClass() {
        let heap = Heap::new();
        let first = filled(&heap, layout(100, 8), 1);
        let other = filled(&heap, layout(100, 8), 2);
        // SAFETY: the block came from this heap with this layout, and is not used again.
        unsafe { heap.dealloc(first, layout(100, 8)) };
        assert_eq!(filled(&heap, layout(128, 8), 3), first);
        assert!(holds(other, 100, 2));
    }

    #[test]
    fn aBlockKeepsItsBytesWhenItGrowsAndShrinks() {
        let heap = Heap::new();
        // Within a class, to another class, to a mapping, a larger mapping, a smaller one, and back to a class.
        let sizes = [20, 30, 500, 3000, 200_000, 5000, 64];
        let mut block = filled(&heap, layout(sizes[0], 8), 7);
        for pair in sizes.windows(2) {
            // SAFETY: the block came from this heap with the first size of the pair.
            block = unsafe { heap.realloc(block, layout(pair[0], 8), pair[1]) };
            assert!(holds(block, pair[0].min(pair[1]), 7));
            // SAFETY: the block now holds the second size.
            unsafe { block.write_bytes(7, pair[1]) };
        }
    }

    #[test]
    fn aFreedMappingIsReturnedToTheKernel() {
        let heap = Heap::new();
        // So large that mappings of other tests cannot fill the address range again.
        const PAGES: usize = 1 << 16;
        let large = layout(PAGES * PAGE, 8);
        let mut resident = vec![0u8; PAGES];
        // SAFETY: the layout has a size.
        let block = unsafe { heap.alloc(large) };
        // SAFETY: mincore does not follow the address, and writes one byte for each page.
        let mut is_mapped =
            || unsafe { syscall!(libc::SYS_mincore, block, large.size(), resident.as_mut_ptr()) }.is_ok();
        assert!(is_mapped());
        // SAFETY: the block came from this heap with this layout, and is not used again.
        unsafe { heap.dealloc(block, large) };
        assert!(!is_mapped());
    }

    #[test]
    fn anAlignmentBeyondAPageFails() {
        let heap = Heap::new();
        // SAFETY: the layout has a size.
        assert!(unsafe { heap.alloc(layout(1, 2 * PAGE)) }.is_null());
    }
}
