//! Processes: start, credentials, limits and exit.

use core::ffi::CStr;

use crate::{Fd, Result, syscall};

/// Exited child.
pub struct Reaped {
    pub pid: i32,
    pub status: i32,
    pub user_us: u64,
    pub system_us: u64,
    pub max_rss: u64,
}

/// Reaps one exited child, if any.
pub fn reap() -> Option<Reaped> {
    let mut status = 0i32;
    // SAFETY: all zeroes is a valid rusage, and the kernel writes no more than one.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        let pid = syscall!(libc::SYS_wait4, -1isize, &raw mut status, libc::WNOHANG, &raw mut usage);
        (pid.unwrap_or(0), usage)
    };
    (pid > 0).then(|| Reaped {
        pid: pid as i32,
        status,
        user_us: microseconds(usage.ru_utime),
        system_us: microseconds(usage.ru_stime),
        max_rss: usage.ru_maxrss as u64 * 1024,
    })
}

/// Processor time of all children that have been reaped, in microseconds.
pub fn reaped_cpu_us() -> u64 {
    // SAFETY: all zeroes is a valid rusage, and the kernel writes no more than one.
    let usage = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        let _ = syscall!(libc::SYS_getrusage, libc::RUSAGE_CHILDREN as isize, &raw mut usage);
        usage
    };
    microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
}

fn microseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

pub fn kill(pid: i32, signal: i32) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_kill, pid as isize, signal) }.map(drop)
}

/// Reaps a child if it has exited. Reports whether it has.
pub fn has_ended(pid: i32) -> bool {
    // SAFETY: null pointers for status and usage are allowed.
    unsafe { syscall!(libc::SYS_wait4, pid as isize, 0, libc::WNOHANG, 0) }.unwrap_or(1) > 0
}

/// Reaps a child if it has exited. Returns its status.
pub fn status_of(pid: i32) -> Option<i32> {
    let mut status = 0i32;
    // SAFETY: the kernel writes one int.
    let ended = unsafe { syscall!(libc::SYS_wait4, pid as isize, &raw mut status, libc::WNOHANG, 0) };
    ended.is_ok_and(|ended| ended > 0).then_some(status)
}

/// Opens a pidfd, which becomes readable when the child exits.
pub fn pidfd(pid: i32) -> Result<Fd> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_pidfd_open, pid as isize, 0) }.map(Fd::owned)
}

pub fn own_pid() -> i32 {
    // SAFETY: no pointers; never fails.
    unsafe { syscall!(libc::SYS_getpid) }.unwrap_or(0) as i32
}

pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: does not return.
        let _ = unsafe { syscall!(libc::SYS_exit_group, code) };
    }
}

/// Calls `prctl` with an option that takes no pointer.
pub fn control(option: i32, value: usize) -> Result<usize> {
    // SAFETY: used only with options that take no pointer.
    unsafe { syscall!(libc::SYS_prctl, option, value, 0, 0, 0) }
}

pub fn load_seccomp(filter: &[libc::sock_filter]) -> Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program before it returns.
    unsafe { syscall!(libc::SYS_prctl, libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) }
        .map(drop)
}

/// Sets the effective user and group. The real ones stay, so that the process can switch back.
pub fn set_effective_ids(uid: u32, gid: u32, group_first: bool) -> Result<()> {
    let keep = u32::MAX;
    // SAFETY: no pointers.
    unsafe {
        if group_first {
            syscall!(libc::SYS_setresgid, keep, gid, keep)?;
            syscall!(libc::SYS_setresuid, keep, uid, keep)?;
        } else {
            syscall!(libc::SYS_setresuid, keep, uid, keep)?;
            syscall!(libc::SYS_setresgid, keep, gid, keep)?;
        }
    }
    Ok(())
}

pub fn limit(resource: u32) -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one rlimit.
    let _ = unsafe { syscall!(libc::SYS_prlimit64, 0, resource, 0, &raw mut limit) };
    limit
}

/// Sets the nice value of a process; 0 means the caller.
pub fn set_nice(pid: i32, nice: i32) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_setpriority, libc::PRIO_PROCESS, pid as isize, nice as isize) }.map(drop)
}

/// Reports whether the caller has a higher priority than usual.
pub fn is_preferred() -> bool {
    // SAFETY: no pointers. The kernel returns 20 minus the nice value.
    unsafe { syscall!(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) }.is_ok_and(|priority| priority > 20)
}

pub fn set_limit(resource: u32, limit: &libc::rlimit) -> Result<()> {
    // SAFETY: the kernel reads one rlimit.
    unsafe { syscall!(libc::SYS_prlimit64, 0, resource, limit as *const libc::rlimit, 0) }.map(drop)
}

/// CPU set in the format of the kernel.
pub type Cpus = [u64; 16];

pub fn affinity() -> Cpus {
    let mut cpus = [0; 16];
    // SAFETY: the kernel writes at most as many bytes as it is told.
    let _ = unsafe { syscall!(libc::SYS_sched_getaffinity, 0, size_of::<Cpus>(), cpus.as_mut_ptr()) };
    cpus
}

pub fn set_affinity(cpus: &Cpus) -> Result<()> {
    // SAFETY: the kernel reads as many bytes as it is told.
    unsafe { syscall!(libc::SYS_sched_setaffinity, 0, size_of::<Cpus>(), cpus.as_ptr()) }.map(drop)
}

/// Resets every signal to its default action. The parent may have ignored some.
pub fn default_signals() {
    let action = [0usize; 4];
    for signal in 1..=64 {
        // SAFETY: all zeroes is `struct sigaction` with SIG_DFL; SIGKILL and SIGSTOP are refused, which is fine.
        let _ = unsafe { syscall!(libc::SYS_rt_sigaction, signal, action.as_ptr(), 0, 8) };
    }
}

/// Unblocks all signals, for a new child.
pub fn unblock_signals() {
    let none = 0u64;
    // SAFETY: the mask is 8 bytes.
    let _ = unsafe { syscall!(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const none, 0, 8) };
}

/// Closes all inherited descriptors but the standard three.
pub fn close_inherited() {
    // SAFETY: the program has opened no descriptor yet.
    let _ = unsafe { syscall!(libc::SYS_close_range, 3, u32::MAX, 0) };
}

pub fn new_session() -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_setsid) }.map(drop)
}

/// Duplicates `fd` to the number `at` without close-on-exec.
pub fn duplicate_to(fd: i32, at: i32) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_dup3, fd, at, 0) }.map(drop)
}

pub fn clear_groups() -> Result<()> {
    // SAFETY: an empty list is not read.
    unsafe { syscall!(libc::SYS_setgroups, 0, 0) }.map(drop)
}

/// Sets the real, effective and saved group permanently.
pub fn become_group(gid: u32) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_setresgid, gid, gid, gid) }.map(drop)
}

/// Sets the real, effective and saved user permanently. Needs no capability if the effective user is already `uid`.
pub fn become_user(uid: u32) -> Result<()> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_setresuid, uid, uid, uid) }.map(drop)
}

pub fn set_umask(mask: u32) {
    // SAFETY: no pointers; never fails.
    let _ = unsafe { syscall!(libc::SYS_umask, mask) };
}

pub fn change_directory(path: &CStr) -> Result<()> {
    // SAFETY: the path is a C string.
    unsafe { syscall!(libc::SYS_chdir, path.as_ptr()) }.map(drop)
}

/// Executes a program. Returns only on failure. Both lists must end with a null pointer.
pub fn execute(path: &CStr, argv: &[*const u8], env: &[*const u8]) -> crate::Errno {
    debug_assert!(argv.last().is_some_and(|last| last.is_null()) && env.last().is_some_and(|last| last.is_null()));
    // SAFETY: the lists end with null and point to C strings that outlive the call.
    unsafe { syscall!(libc::SYS_execve, path.as_ptr(), argv.as_ptr(), env.as_ptr()) }.err().unwrap_or(crate::Errno(0))
}

/// Makes the terminal on descriptor 0 the controlling terminal of the session.
pub fn set_controlling_terminal() -> Result<()> {
    // SAFETY: the argument is a number.
    unsafe { syscall!(libc::SYS_ioctl, 0, libc::TIOCSCTTY, 0) }.map(drop)
}

/// Unlocks and opens the peer of a terminal master.
pub fn terminal_peer(master: &Fd) -> Result<Fd> {
    let unlocked = 0i32;
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the kernel reads one int.
    unsafe {
        syscall!(libc::SYS_ioctl, master.raw(), libc::TIOCSPTLCK, &raw const unlocked)?;
        syscall!(libc::SYS_ioctl, master.raw(), libc::TIOCGPTPEER, flags).map(Fd::owned)
    }
}

/// Number of a terminal in `/dev/pts`.
pub fn terminal_number(master: &Fd) -> Result<u32> {
    let mut number = 0u32;
    // SAFETY: the kernel writes one int.
    unsafe { syscall!(libc::SYS_ioctl, master.raw(), libc::TIOCGPTN, &raw mut number) }?;
    Ok(number)
}

/// Clears the inheritable capabilities.
pub fn drop_inheritable() -> Result<()> {
    let header = [0x2008_0522u32, 0];
    // Effective, permitted, inheritable; the lower and then the upper half.
    let mut sets = [0u32; 6];
    // SAFETY: the header is of version 3, which has these six words.
    unsafe {
        syscall!(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr())?;
        (sets[2], sets[5]) = (0, 0);
        syscall!(libc::SYS_capset, header.as_ptr(), sets.as_ptr())?;
    }
    Ok(())
}

/// Drops all capabilities but those in `kept`, a set of the lower 32, and makes these effective.
pub fn keep_capabilities(kept: u32) -> Result<()> {
    let header = [0x2008_0522u32, 0];
    let sets = [kept, kept, 0, 0, 0, 0];
    // SAFETY: the header is of version 3, which has these six words.
    unsafe { syscall!(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) }.map(drop)
}

pub fn resize_terminal(master: &Fd, columns: u16, rows: u16) -> Result<()> {
    let size = [rows, columns, 0, 0];
    // SAFETY: the kernel reads one winsize, four 16-bit words.
    unsafe { syscall!(libc::SYS_ioctl, master.raw(), libc::TIOCSWINSZ, size.as_ptr()) }.map(drop)
}

/// `struct clone_args`.
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Forks with the namespaces in `flags`. The child starts in `group`, a cgroup of version 2, if given.
pub fn fork_into(flags: i32, group: Option<&Fd>) -> Result<i32> {
    const INTO_CGROUP: u64 = 0x2_0000_0000;
    let arguments = CloneArguments {
        flags: flags as u64 | group.map_or(0, |_| INTO_CGROUP),
        exit_signal: libc::SIGCHLD as u64,
        cgroup: group.map_or(0, |fd| fd.raw() as u64),
        ..CloneArguments::default()
    };
    // SAFETY: without CLONE_VM the child has its own copy of everything; the kernel reads one structure.
    unsafe { syscall!(libc::SYS_clone3, &raw const arguments, size_of::<CloneArguments>()) }.map(|pid| pid as i32)
}

/// Starts a child that shares the memory of this process and runs `body` on the stack that ends at `stack_top`.
/// The parent sleeps until the child has executed another program or exited.
///
/// # Safety
/// `body` must not return, allocate, or unwind, and `stack_top` must be the end of an unused, 16-byte aligned stack.
pub unsafe fn clone_sharing<T>(
    stack_top: *mut u8,
    body: unsafe extern "C" fn(*mut T) -> !,
    argument: *mut T,
) -> Result<i32> {
    let flags = (libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD) as usize;
    let result: isize;
    // SAFETY: the child starts on its own stack and leaves this block only by `body`; the parent continues at `2:`.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("syscall", "test rax, rax", "jnz 2f", "xor ebp, ebp", "mov rdi, r12", "call r13", "ud2", "2:",
            inlateout("rax") libc::SYS_clone as isize => result,
            in("rdi") flags, in("rsi") stack_top, in("rdx") 0, in("r10") 0, in("r8") 0,
            in("r12") argument, in("r13") body, lateout("rcx") _, lateout("r11") _);
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("svc 0", "cbnz x0, 2f", "mov x29, xzr", "mov x0, x20", "blr x21", "brk 1", "2:",
            in("x8") libc::SYS_clone, inlateout("x0") flags => result,
            in("x1") stack_top, in("x2") 0, in("x3") 0, in("x4") 0,
            in("x20") argument, in("x21") body);
    }
    crate::call::check(result).map(|pid| pid as i32)
}

/// Writes to a standard descriptor. Best effort.
pub fn print(to: usize, text: &[u8]) -> Result<usize> {
    // SAFETY: the kernel reads `text.len()` bytes.
    unsafe { syscall!(libc::SYS_write, to, text.as_ptr(), text.len()) }
}
