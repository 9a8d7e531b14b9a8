//! What a standard library would have brought: the entry point, memory functions, the heap, and the end by panic.

use alloc::vec::Vec;
use core::panic::PanicInfo;
use core::slice;

use vivarium_guest::heap::Heap;
use vivarium_guest::sys::process;

vivarium_guest::memory_functions!("");

#[global_allocator]
static HEAP: Heap = Heap::new();

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {start}",
    "ud2",
    start = sym start
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x0, sp",
    "bl {start}",
    "brk 1",
    start = sym start
);

/// # Safety
/// `stack` is what the kernel gives a new program: argc, argv, null, environment, null.
unsafe extern "C" fn start(stack: *mut usize) -> ! {
    // SAFETY: as above; argv has argc entries, and the environment begins behind the null that ends it.
    let (arguments, environment) = unsafe {
        let count = *stack;
        let argv = slice::from_raw_parts(stack.add(1).cast::<*const u8>(), count);
        let arguments: Vec<&[u8]> =
            argv.iter().skip(1).map(|argument| slice::from_raw_parts(*argument, length(*argument))).collect();
        (arguments, Environment(stack.add(count + 2).cast()))
    };
    process::exit(crate::main(&arguments, environment))
}

/// # Safety
/// `string` must be a C string.
unsafe fn length(string: *const u8) -> usize {
    // SAFETY: every byte up to the zero belongs to the string.
    unsafe { core::ffi::CStr::from_ptr(string.cast()) }.count_bytes()
}

/// The environment as the kernel has laid it out.
pub struct Environment(*mut *mut u8);

impl Environment {
    /// The value of a variable, whose bytes are then overwritten: `/proc` shows this memory.
    pub fn take_secret(&mut self, prefix: &[u8]) -> Vec<u8> {
        let mut secret = Vec::new();
        let mut entry = self.0;
        // SAFETY: the list ends with null, its strings are ours to change, and nobody else looks at them.
        unsafe {
            while !(*entry).is_null() {
                let variable = slice::from_raw_parts_mut(*entry, length(*entry));
                if let Some(value) = variable.strip_prefix(prefix) {
                    secret = value.to_vec();
                    variable.fill(0);
                }
                entry = entry.add(1);
            }
        }
        secret
    }
}

pub fn print(to: usize, text: &str) {
    let _ = process::say(to, text.as_bytes());
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    print(2, "vivarium-guest: a bug");
    if let Some(location) = info.location() {
        print(2, " in ");
        print(2, location.file());
        let mut digits = [b'0'; 6];
        let mut line = location.line();
        for digit in digits.iter_mut().rev() {
            *digit += (line % 10) as u8;
            line /= 10;
        }
        let _ = process::say(2, b" line ");
        let _ = process::say(2, &digits);
    }
    print(2, "\n");
    process::exit(70)
}

/// Precompiled parts of the library name this, although nothing unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// As above.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    process::exit(70)
}
