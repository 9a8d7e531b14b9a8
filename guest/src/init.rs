//! The `init` command: setup of the process, then the loop.

use alloc::ffi::CString;
use alloc::vec::Vec;

use crate::context::User;
use crate::guest::Guest;
use crate::options::Options;
use crate::seccomp;
use vivarium_sys::{Usage, file, process};

/// Resource limits that cgroups do not cover: kernel memory and scheduling priority.
const LIMITS: [(u32, u64); 6] = [
    (libc::RLIMIT_NOFILE, 4096),
    (libc::RLIMIT_MEMLOCK, 64 * 1024),
    (libc::RLIMIT_MSGQUEUE, 800 * 1024),
    (libc::RLIMIT_SIGPENDING, 4096),
    (libc::RLIMIT_NICE, 0),
    (libc::RLIMIT_RTPRIO, 0),
];

/// Runs the guest. Returns only if it cannot start.
pub fn init(arguments: &[&[u8]], secret: Vec<u8>) -> Result<core::convert::Infallible, Usage> {
    let options = Options::parse(arguments)?;
    process::close_inherited();
    process::default_signals();
    lower(libc::RLIMIT_CORE, 0);
    // File modes of the wire protocol are exact. Commands get their own umask.
    process::set_umask(0);
    if process::own_pid() != 1 {
        // Detaches from the terminal of the server, so that Ctrl-C there does not reach the sandbox.
        let _ = process::new_session();
        control(libc::PR_SET_CHILD_SUBREAPER, 1)?;
    }
    let path = CString::new(options.workspace).map_err(|_| Usage("the workspace is no path"))?;
    let workspace = file::open(&path, libc::O_PATH | libc::O_DIRECTORY).map_err(|_| Usage("no such workspace"))?;
    if !options.plain {
        LIMITS.iter().for_each(|(resource, most)| lower(*resource, *most));
        control(libc::PR_SET_DUMPABLE, 0)?;
        control(libc::PR_SET_NO_NEW_PRIVS, 1)?;
        process::drop_inheritable().map_err(|_| Usage("the kernel refuses to drop capabilities"))?;
    }
    let user = User { uid: options.uid, gid: options.gid, plain: options.plain };
    let mut guest =
        Guest::new(options.socket, secret, workspace, user).map_err(|_| Usage("the kernel refuses the basics"))?;
    guest.limit_cpus(options.cpus);
    guest.context.orphan_timer.set_grace(options.orphan_grace);
    if !options.plain && options.seccomp {
        process::load_seccomp(&seccomp::filter()).map_err(|_| Usage("the kernel refuses the seccomp filter"))?;
    }
    guest.run()
}

/// Lowers a limit. Best effort: gVisor does not support all limits.
fn lower(resource: u32, most: u64) {
    let most = most.min(process::limit(resource).rlim_max);
    let _ = process::set_limit(resource, &libc::rlimit { rlim_cur: most, rlim_max: most });
}

fn control(option: i32, value: usize) -> Result<(), Usage> {
    process::control(option, value).map(drop).map_err(|_| Usage("the kernel refuses a setting of the process"))
}
