//! Process start: clone, setup of the child, exec.
//!
//! The child shares the memory of the guest, which sleeps until the child has executed its program, so no memory is
//! copied. The child may make system calls only. It must not allocate, lock or change state of the guest.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::ptr;

use crate::context::User;
use vivarium_sys::process::{self, Cpus};
use vivarium_sys::{Errno, Fd, file};

/// Capabilities of the guest, which commands must not have.
const OWN_CAPABILITIES: [usize; 4] = [5, 6, 7, 8]; // KILL, SETGID, SETUID, SETPCAP
const STACK: usize = 64 * 1024;

/// Parameters of the child, allocated before the clone.
pub struct Plan<'a> {
    pub candidates: &'a [CString],
    pub argv: &'a [CString],
    pub env: &'a [CString],
    pub cwd: &'a CStr,
    pub workspace: &'a Fd,
    pub standard: [i32; 3],
    pub terminal: bool,
    pub user: User,
    pub cpus: Option<Cpus>,
    pub open_files: libc::rlimit,
}

/// Step of the start that failed, with its error.
#[derive(Clone, Copy, Debug)]
pub enum SpawnError {
    Clone(Errno),
    Prepare(Errno),
    Directory(Errno),
    Execute(Errno),
}

struct ChildStart<'a> {
    plan: &'a Plan<'a>,
    argv: Vec<*const u8>,
    env: Vec<*const u8>,
    error: Option<SpawnError>,
}

/// Stack for a child between clone and exec, used by one child at a time.
#[repr(C, align(16))]
struct Stack([u8; STACK]);

static mut CHILD_STACK: Stack = Stack([0; STACK]);

/// Starts the program. Returns after exec or with the step that failed.
pub fn spawn(plan: &Plan) -> Result<i32, SpawnError> {
    let pointers = |strings: &[CString]| -> Vec<*const u8> {
        strings.iter().map(|string| string.as_ptr().cast()).chain([ptr::null()]).collect()
    };
    let mut start = ChildStart { plan, argv: pointers(plan.argv), env: pointers(plan.env), error: None };
    let top = (&raw mut CHILD_STACK).cast::<u8>().wrapping_add(STACK);
    // SAFETY: `child_main` makes only system calls and never returns. The guest has one thread and sleeps while the
    // child uses this stack.
    let pid = unsafe { process::clone_sharing(top, child_main, &raw mut start) }.map_err(SpawnError::Clone)?;
    match start.error {
        None => Ok(pid),
        // The loop reaps the failed child with the others.
        Some(error) => Err(error),
    }
}

/// # Safety
/// `start` is valid, and nothing else uses it while the child runs.
unsafe extern "C" fn child_main(start: *mut ChildStart) -> ! {
    // SAFETY: as above.
    let start = unsafe { &mut *start };
    let error = match prepare(start.plan) {
        Err(error) => error,
        Ok(()) => SpawnError::Execute(execute(start)),
    };
    start.error = Some(error);
    process::exit(127)
}

fn prepare(plan: &Plan) -> Result<(), SpawnError> {
    set_identity(plan).map_err(SpawnError::Prepare)?;
    file::change_directory(plan.workspace).map_err(SpawnError::Directory)?;
    if !plan.cwd.is_empty() {
        process::change_directory(plan.cwd).map_err(SpawnError::Directory)?;
    }
    process::unblock_signals();
    if !plan.user.plain {
        // The last step: from now on other processes of the sandbox can signal the child. A child that is stopped
        // before exec would block the guest.
        process::become_user(plan.user.uid).map_err(SpawnError::Prepare)?;
    }
    Ok(())
}

fn set_identity(plan: &Plan) -> vivarium_sys::Result<()> {
    process::new_session()?;
    for (at, fd) in plan.standard.iter().enumerate() {
        process::duplicate_to(*fd, at as i32)?;
    }
    if plan.terminal {
        process::set_controlling_terminal()?;
    }
    // Survives exec. Detached descendants become children of this process, so the guest finds them. Without kernel
    // support the guest misses some.
    let _ = process::control(libc::PR_SET_CHILD_SUBREAPER, 1);
    raise_oom_score();
    if process::is_preferred() {
        // The guest has priority over commands, so that it answers beside busy ones.
        let _ = process::set_nice(0, 0);
    }
    if let Some(cpus) = &plan.cpus {
        let _ = process::set_affinity(cpus);
    }
    let _ = process::set_limit(libc::RLIMIT_NOFILE, &plan.open_files);
    process::set_umask(0o022);
    if !plan.user.plain {
        for capability in OWN_CAPABILITIES {
            let _ = process::control(libc::PR_CAPBSET_DROP, capability);
        }
        process::clear_groups()?;
        process::become_group(plan.user.gid)?;
        // Sets the effective user only, so that other processes of that user cannot signal the child yet.
        process::set_effective_ids(plan.user.uid, plan.user.gid, true)?;
    }
    Ok(())
}

/// Makes the kernel kill commands before the guest when memory runs out. Best effort.
fn raise_oom_score() {
    if let Ok(score) = file::open(c"/proc/self/oom_score_adj", libc::O_WRONLY) {
        let _ = score.write(b"500");
    }
}

/// Tries each candidate like `execvp`. Returns the most specific error.
fn execute(start: &ChildStart) -> Errno {
    let mut denied = false;
    for candidate in start.plan.candidates {
        match process::execute(candidate, &start.argv, &start.env) {
            Errno(libc::EACCES) => denied = true,
            Errno(libc::ENOENT | libc::ENOTDIR) => {}
            error => return error,
        }
    }
    Errno(if denied { libc::EACCES } else { libc::ENOENT })
}
