//! Entry point and panic handler of a freestanding program.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::panic::PanicInfo;
use core::slice;

use crate::process;

const USAGE_STATUS: i32 = 64;
/// Exit status after a panic.
pub const PANIC_STATUS: i32 = 70;

/// Error in the command line, or a condition that keeps the program from starting.
#[derive(Debug, PartialEq, Eq)]
pub struct Usage(pub &'static str);

/// Result of a command that runs until its process exits.
pub type Outcome = core::result::Result<Infallible, Usage>;

/// Environment variables in the memory in which the kernel has put them.
pub struct Environment(*mut *mut u8);

impl Environment {
    /// Returns the value of a variable and overwrites its bytes, because `/proc` shows this memory.
    pub fn take_secret(&mut self, prefix: &[u8]) -> Vec<u8> {
        let mut secret = Vec::new();
        let mut entry = self.0;
        // SAFETY: the list ends with null, the program may change its strings, and nothing else refers to them.
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

/// Description of a program for `program!`.
pub struct Program {
    pub name: &'static str,
    pub version: &'static str,
    pub usage: &'static str,
    /// Runs the command that the arguments name. The first argument is the command.
    pub run: fn(&[&[u8]], Environment) -> Outcome,
}

impl Program {
    /// Runs the program and exits.
    ///
    /// # Safety
    /// `stack` is the initial stack of a process: argc, argv, null, environment, null.
    pub unsafe fn start(&self, stack: *mut usize) -> ! {
        // SAFETY: argv has argc entries, and the environment begins behind the null that ends argv.
        let (arguments, environment) = unsafe {
            let count = *stack;
            let argv = slice::from_raw_parts(stack.add(1).cast::<*const u8>(), count);
            let arguments: Vec<&[u8]> =
                argv.iter().skip(1).map(|argument| slice::from_raw_parts(*argument, length(*argument))).collect();
            (arguments, Environment(stack.add(count + 2).cast()))
        };
        if arguments == [b"--version"] {
            print(1, &[self.name, " ", self.version, "\n"]);
            process::exit(0)
        }
        let Err(Usage(problem)) = (self.run)(&arguments, environment);
        print(2, &[self.name, ": ", problem, "\n", self.usage]);
        process::exit(USAGE_STATUS)
    }

    /// Prints the source location of a panic and exits.
    pub fn panic(&self, info: &PanicInfo) -> ! {
        print(2, &[self.name, ": internal error"]);
        if let Some(location) = info.location() {
            let mut digits = [b'0'; 6];
            let mut line = location.line();
            for digit in digits.iter_mut().rev() {
                *digit += (line % 10) as u8;
                line /= 10;
            }
            let digits = core::str::from_utf8(&digits).unwrap_or_default();
            print(2, &[" in ", location.file(), " line ", digits]);
        }
        print(2, &["\n"]);
        process::exit(PANIC_STATUS)
    }
}

/// # Safety
/// `string` must be a C string.
unsafe fn length(string: *const u8) -> usize {
    // SAFETY: every byte up to the zero belongs to the string.
    unsafe { core::ffi::CStr::from_ptr(string.cast()) }.count_bytes()
}

fn print(to: usize, texts: &[&str]) {
    for text in texts {
        let _ = process::print(to, text.as_bytes());
    }
}

/// Defines entry point, allocator, memory functions and panic handler of the binary that uses it.
#[macro_export]
macro_rules! program {
    ($program:expr) => {
        static PROGRAM: $crate::runtime::Program = $program;

        #[global_allocator]
        static HEAP: $crate::heap::Heap = $crate::heap::Heap::new();

        $crate::memory_functions!("");

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
        /// As for `Program::start`.
        unsafe extern "C" fn start(stack: *mut usize) -> ! {
            // SAFETY: `_start` passes the initial stack of the process.
            unsafe { PROGRAM.start(stack) }
        }

        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo) -> ! {
            PROGRAM.panic(info)
        }

        /// Precompiled parts of the core library refer to it, although nothing unwinds.
        #[unsafe(no_mangle)]
        extern "C" fn rust_eh_personality() {}

        /// Precompiled parts of the core library refer to it, although nothing unwinds.
        #[unsafe(no_mangle)]
        extern "C" fn _Unwind_Resume() -> ! {
            $crate::process::exit($crate::runtime::PANIC_STATUS)
        }
    };
}
