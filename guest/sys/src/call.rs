//! The system call instruction and its error.

use core::fmt;

/// Error number of a system call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

pub type Result<T> = core::result::Result<T, Errno>;

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "errno {}", self.0)
    }
}

/// Turns the kernel's return value into a result.
pub fn check(value: isize) -> Result<usize> {
    if (-4095..0).contains(&value) { Err(Errno(-value as i32)) } else { Ok(value as usize) }
}

/// # Safety
/// Pointers must be valid for the system call.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn raw(number: libc::c_long, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the registers are those of the x86_64 system call convention; the caller guarantees valid pointers.
    unsafe {
        core::arch::asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// # Safety
/// Pointers must be valid for the system call.
#[cfg(target_arch = "aarch64")]
#[inline]
pub unsafe fn raw(number: libc::c_long, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the registers are those of the aarch64 system call convention; the caller guarantees valid pointers.
    unsafe {
        core::arch::asm!("svc 0", in("x8") number, inlateout("x0") a[0] => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5], options(nostack));
    }
    result
}

/// `syscall!(number, arguments…)` returns a `Result<usize>`. Use it in an unsafe block.
#[macro_export]
macro_rules! syscall {
    ($number:expr $(, $argument:expr)* $(,)?) => {{
        let mut arguments = [0usize; 6];
        let given: &[usize] = &[$($argument as usize),*];
        arguments[..given.len()].copy_from_slice(given);
        $crate::call::check($crate::call::raw($number, arguments))
    }};
}
