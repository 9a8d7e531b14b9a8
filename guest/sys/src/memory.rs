//! The memory functions that compiled code calls: `memcpy`, `memmove`, `memset`, `memcmp`, `bcmp` and `strlen`.
//!
//! They are assembly because the compiler would turn a loop in Rust into a call to the function itself. The macro
//! defines them in the crate that uses it, each name preceded by `$prefix`. A freestanding program uses an empty
//! prefix; the tests use another one, because their C library defines the plain names.

#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! memory_functions {
    ($prefix:literal) => {
        core::arch::global_asm!(
            concat!(".globl ", $prefix, "memcpy"),
            concat!(".globl ", $prefix, "memmove"),
            concat!(".globl ", $prefix, "memset"),
            concat!(".globl ", $prefix, "memcmp"),
            concat!(".globl ", $prefix, "bcmp"),
            concat!(".globl ", $prefix, "strlen"),
            concat!($prefix, "memmove:"),
            "mov rax, rdi",
            "sub rax, rsi",
            "cmp rax, rdx",
            "jb 3f",
            // Forwards. memmove falls through to memcpy; the processor moves whole cache lines.
            concat!($prefix, "memcpy:"),
            "mov rax, rdi",
            "mov rcx, rdx",
            "rep movsb",
            "ret",
            // The target begins inside the source. Copies backwards, eight bytes at a time, then single bytes.
            "3:",
            "mov rax, rdi",
            "2:",
            "cmp rdx, 8",
            "jb 4f",
            "mov rcx, [rsi + rdx - 8]",
            "mov [rdi + rdx - 8], rcx",
            "sub rdx, 8",
            "jmp 2b",
            "4:",
            "test rdx, rdx",
            "jz 5f",
            "mov cl, [rsi + rdx - 1]",
            "mov [rdi + rdx - 1], cl",
            "dec rdx",
            "jmp 4b",
            "5:",
            "ret",
            concat!($prefix, "memset:"),
            "mov r8, rdi",
            "mov eax, esi",
            "mov rcx, rdx",
            "rep stosb",
            "mov rax, r8",
            "ret",
            concat!($prefix, "memcmp:"),
            concat!($prefix, "bcmp:"),
            "xor eax, eax",
            "xor ecx, ecx",
            "2:",
            "cmp rcx, rdx",
            "je 3f",
            "movzx eax, byte ptr [rdi + rcx]",
            "movzx r8d, byte ptr [rsi + rcx]",
            "inc rcx",
            "sub eax, r8d",
            "jz 2b",
            "3:",
            "ret",
            concat!($prefix, "strlen:"),
            "xor eax, eax",
            "2:",
            "cmp byte ptr [rdi + rax], 0",
            "je 3f",
            "inc rax",
            "jmp 2b",
            "3:",
            "ret",
        );
    };
}

#[cfg(target_arch = "aarch64")]
#[macro_export]
macro_rules! memory_functions {
    ($prefix:literal) => {
        core::arch::global_asm!(
            concat!(".globl ", $prefix, "memcpy"),
            concat!(".globl ", $prefix, "memmove"),
            concat!(".globl ", $prefix, "memset"),
            concat!(".globl ", $prefix, "memcmp"),
            concat!(".globl ", $prefix, "bcmp"),
            concat!(".globl ", $prefix, "strlen"),
            concat!($prefix, "memmove:"),
            "sub x3, x0, x1",
            "cmp x3, x2",
            "b.lo 4f",
            concat!($prefix, "memcpy:"),
            "mov x3, x0",
            "2:",
            "subs x2, x2, #16",
            "b.lo 3f",
            "ldp x4, x5, [x1], #16",
            "stp x4, x5, [x3], #16",
            "b 2b",
            "3:",
            "adds x2, x2, #16",
            "b.eq 6f",
            "5:",
            "ldrb w4, [x1], #1",
            "strb w4, [x3], #1",
            "subs x2, x2, #1",
            "b.ne 5b",
            "6:",
            "ret",
            // The target begins inside the source. Copies backwards.
            "4:",
            "cbz x2, 6b",
            "sub x2, x2, #1",
            "ldrb w4, [x1, x2]",
            "strb w4, [x0, x2]",
            "b 4b",
            concat!($prefix, "memset:"),
            "mov x3, x0",
            "2:",
            "cbz x2, 3f",
            "strb w1, [x3], #1",
            "sub x2, x2, #1",
            "b 2b",
            "3:",
            "ret",
            concat!($prefix, "memcmp:"),
            concat!($prefix, "bcmp:"),
            "mov x3, x0",
            "mov w0, #0",
            "2:",
            "cbz x2, 3f",
            "ldrb w4, [x3], #1",
            "ldrb w5, [x1], #1",
            "sub x2, x2, #1",
            "subs w0, w4, w5",
            "b.eq 2b",
            "3:",
            "ret",
            concat!($prefix, "strlen:"),
            "mov x1, x0",
            "2:",
            "ldrb w2, [x1], #1",
            "cbnz w2, 2b",
            "sub x0, x1, x0",
            "sub x0, x0, #1",
            "ret",
        );
    };
}

#[cfg(test)]
mod tests {
    use core::ffi::{c_int, c_void};

    memory_functions!("vivarium_");

    unsafe extern "C" {
        fn vivarium_memcpy(target: *mut c_void, source: *const c_void, count: usize) -> *mut c_void;
        fn vivarium_memmove(target: *mut c_void, source: *const c_void, count: usize) -> *mut c_void;
        fn vivarium_memset(target: *mut c_void, byte: c_int, count: usize) -> *mut c_void;
        fn vivarium_memcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int;
        fn vivarium_bcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int;
        fn vivarium_strlen(string: *const u8) -> usize;
    }

    const SIZE: usize = 96;

    fn pattern() -> [u8; SIZE] {
        core::array::from_fn(|at| at as u8)
    }

    #[test]
    fn memcpyCopiesExactlyTheBytesItIsGiven() {
        let source = pattern();
        for count in 0..=SIZE - 2 {
            let mut target = [0xee; SIZE];
            let into = target[1..].as_mut_ptr().cast();
            // SAFETY: both arrays hold `count` bytes behind these pointers.
            assert_eq!(unsafe { vivarium_memcpy(into, source.as_ptr().cast(), count) }, into);
            assert_eq!(target[1..=count], source[..count]);
            assert!(target[0] == 0xee && target[count + 1..].iter().all(|byte| *byte == 0xee));
        }
    }

    #[test]
    fn memmoveCopiesOverlappingBytesInBothDirections() {
        for from in 0..24 {
            for to in 0..24 {
                for count in [0, 1, 7, 8, 9, 15, 16, 17, 40, 64] {
                    let (mut expected, mut actual) = (pattern(), pattern());
                    expected.copy_within(from..from + count, to);
                    let base = actual.as_mut_ptr();
                    // SAFETY: both ranges lie inside the array; memmove allows them to overlap.
                    let result = unsafe { vivarium_memmove(base.add(to).cast(), base.add(from).cast(), count) };
                    assert_eq!(result, base.wrapping_add(to).cast());
                    assert_eq!(actual, expected, "{count} bytes from {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn memsetFillsExactlyTheBytesItIsGiven() {
        for count in 0..=SIZE - 2 {
            let mut target = pattern();
            let into = target[1..].as_mut_ptr().cast();
            // SAFETY: the array holds `count` bytes behind the pointer. Only the low byte of the value counts.
            assert_eq!(unsafe { vivarium_memset(into, 0x1ab, count) }, into);
            assert!(target[1..=count].iter().all(|byte| *byte == 0xab));
            assert_eq!((target[0], &target[count + 1..]), (0, &pattern()[count + 1..]));
        }
    }

    #[test]
    fn memcmpAndBcmpCompareUnsignedBytesUpToTheCount() {
        let left = pattern();
        for at in 0..SIZE {
            let mut right = left;
            right[at] = 0xff;
            let (one, other) = (left.as_ptr().cast(), right.as_ptr().cast());
            // SAFETY: both arrays have SIZE bytes, and no count is larger.
            unsafe {
                assert!(vivarium_memcmp(one, other, SIZE) < 0);
                assert!(vivarium_memcmp(other, one, SIZE) > 0);
                assert_ne!(vivarium_bcmp(one, other, at + 1), 0);
                assert_eq!(vivarium_memcmp(one, other, at), 0);
                assert_eq!(vivarium_bcmp(one, other, at), 0);
            }
        }
    }

    #[test]
    fn strlenCountsTheBytesBeforeTheZero() {
        for length in 0..SIZE {
            let mut string = [b'x'; SIZE];
            string[length] = 0;
            // SAFETY: the array has a zero byte.
            assert_eq!(unsafe { vivarium_strlen(string.as_ptr()) }, length);
        }
    }
}
