//! Init process of a sandbox, from clone to the execution of the guest.
//!
//! The process starts in the user and PID namespaces of the sandbox and creates the others, so that its user namespace
//! owns them. Meanwhile the launcher prepares the disk and the root. It sends one byte when the ids are mapped, and one
//! when the stage is ready. If either process dies, the other one sees the end of a pipe and exits.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::ffi::CStr;

use super::options::{Entry, Options};
use super::{Step, failed, root, userns};
use vivarium_sys::{Errno, Fd, Result, file, process, socket, syscall};

/// Capabilities of the guest: to become the sandbox user, to signal its processes, and to drop these four for them.
const CAPABILITIES: [usize; 4] = [5, 6, 7, 8]; // KILL, SETGID, SETUID, SETPCAP
const LAST_CAPABILITY: usize = 63;
/// Nice value of the guest. Its commands have 0.
const GUEST_NICE: i32 = -10;
const JOIN_SESSION_KEYRING: usize = 1;
const CLOSE_ON_EXEC: usize = 4;
const NAMESPACES: i32 = libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;

/// Launcher's handle of the init process.
pub struct InitProcess {
    pid: i32,
    commands: Fd,
    report: Fd,
}

impl InitProcess {
    /// Starts the process, in `group` if the host has cgroups of version 2.
    pub fn spawn(options: &Options, entry: &Entry, secret: &[u8], group: Option<&Fd>) -> Step<InitProcess> {
        let pipe = || file::pipe().map_err(|e| failed("make a pipe", e));
        let ((commands, to_it), (from_it, report)) = (pipe()?, pipe()?);
        let pid = userns::clone_as(options.base, libc::CLONE_NEWPID, group)
            .map_err(|e| failed("make a user namespace", e))?;
        if pid == 0 {
            drop((to_it, from_it));
            let Err(failure) = become_guest(options, entry, secret, &commands);
            let _ = report.write(failure.as_bytes());
            process::exit(1)
        }
        // Best effort: the guest works without priority.
        let _ = process::set_nice(pid, GUEST_NICE);
        Ok(InitProcess { pid, commands: to_it, report: from_it })
    }

    /// Maps the ids, lets the process continue, and returns its user namespace.
    pub fn map(&self, base: u32) -> Step<Fd> {
        let ids = userns::map_ids(self.pid, base)?;
        self.proceed()?;
        Ok(ids)
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Lets the process enter the root and waits until it has executed the guest.
    pub fn await_guest(self) -> Step<()> {
        self.proceed()?;
        drop(self.commands);
        let mut words = [0; 512];
        let length = self.report.read(&mut words).map_err(|e| failed("hear from init", e))?;
        if length > 0 {
            return Err(String::from_utf8_lossy(&words[..length]).into_owned());
        }
        if process::has_ended(self.pid) { Err(String::from("init ended at once")) } else { Ok(()) }
    }

    fn proceed(&self) -> Step<()> {
        self.commands.write(b"!").map(drop).map_err(|e| failed("reach init", e))
    }
}

fn become_guest(options: &Options, entry: &Entry, secret: &[u8], commands: &Fd) -> Step<Infallible> {
    await_command(commands)?;
    become_namespace_root()?;
    enter_namespaces(entry.hostname)?;
    await_command(commands)?;
    root::enter(options, entry)?;
    close_descriptors()?;
    drop_capabilities()?;
    Err(execute(options, secret))
}

/// Waits for the next byte of the launcher. Exits if the launcher has died.
fn await_command(commands: &Fd) -> Step<()> {
    match commands.read(&mut [0]) {
        Ok(1) => Ok(()),
        _ => process::exit(1),
    }
}

fn become_namespace_root() -> Step<()> {
    let become_root = || {
        process::clear_groups()?;
        process::become_group(0)?;
        process::become_user(0)
    };
    become_root().map_err(|e| failed("become root of the user range", e))
}

fn enter_namespaces(hostname: &CStr) -> Step<()> {
    let _ = process::new_session();
    join_new_keyring().map_err(|e| failed("make a keyring", e))?;
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_unshare, NAMESPACES) }.map_err(|e| failed("make the namespaces", e))?;
    socket::loopback_up().map_err(|e| failed("bring up the loopback interface", e))?;
    let name = hostname.to_bytes();
    // SAFETY: the kernel reads `name.len()` bytes.
    unsafe { syscall!(libc::SYS_sethostname, name.as_ptr(), name.len()) }
        .map(drop)
        .map_err(|e| failed("name the host", e))
}

/// Joins a new session keyring, because the keys of the host must not be visible. The kernel may lack keyrings.
fn join_new_keyring() -> Result<()> {
    // SAFETY: a null name requests an anonymous keyring.
    match unsafe { syscall!(libc::SYS_keyctl, JOIN_SESSION_KEYRING, 0) } {
        Ok(_) | Err(Errno(libc::ENOSYS)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Limits the capabilities. Root of the user namespace gets those in the bounding set after `execve`.
fn drop_capabilities() -> Step<()> {
    let step = |e| failed("shed capabilities", e);
    for capability in (0..=LAST_CAPABILITY).filter(|c| !CAPABILITIES.contains(c)) {
        // The kernel may have fewer capabilities.
        if process::control(libc::PR_CAPBSET_DROP, capability).is_err() && capability == 0 {
            return Err(String::from("shed capabilities: not permitted"));
        }
    }
    let kept = CAPABILITIES.iter().fold(0, |set, capability| set | 1 << capability);
    process::keep_capabilities(kept).map_err(step)?;
    process::control(libc::PR_SET_NO_NEW_PRIVS, 1).map(drop).map_err(step)
}

/// Closes the descriptors of the launcher but standard error, which is the log.
fn close_descriptors() -> Step<()> {
    let step = |e| failed("let go of the launcher", e);
    let nothing = file::open(c"/dev/null", libc::O_RDWR).map_err(step)?;
    process::duplicate_to(nothing.raw(), 0).map_err(step)?;
    process::duplicate_to(nothing.raw(), 1).map_err(step)?;
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_close_range, 3, u32::MAX, CLOSE_ON_EXEC) }.map(drop).map_err(step)
}

fn execute(options: &Options, secret: &[u8]) -> String {
    let secret = CString::new([b"VIV_SECRET=", secret].concat()).unwrap_or_default();
    let mut argv: Vec<*const u8> = options.command.iter().map(|a| a.as_ptr().cast()).collect();
    argv.push(core::ptr::null());
    let environment = [secret.as_ptr().cast(), core::ptr::null()];
    let error = process::execute(options.command[0], &argv, &environment);
    failed(&format!("execute {}", String::from_utf8_lossy(options.command[0].to_bytes())), error)
}
