//! Start of a sandbox: builds its file systems in a private mount namespace, then executes the runtime, or starts the
//! guest itself (`serve.rs`).
//!
//! The mounts are invisible to the host, so a crash leaves none behind, and many sandboxes do not slow down mounts of
//! the host. The order matters: first the lock, which the removal of an unfinished sandbox waits for, then the private
//! namespace, the disk, the root and the bind mounts.
//!
//! All mounts are below one fixed directory, the *stage*. Each launch mounts the directory of its sandbox there. So the
//! bundle contains no path of the host, and a parent directory may be accessible to root only.

mod cgroup;
mod disk;
mod init;
mod mount;
mod options;
mod root;
mod serve;
mod userns;

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;

use init::InitProcess;
use options::{Disk, Entry, Options};
pub use serve::serve;
use vivarium_sys::{Errno, Fd, file, process, syscall};

/// Result of a step, or an error message of one line.
type Step<T> = core::result::Result<T, String>;

/// Environment of the runtime.
const ENVIRONMENT: &CStr = c"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Umask for new directories, independent of the umask of the server.
const UMASK: u32 = 0o022;

/// Runs the `launch` command: executes the runtime, or prints an error and exits.
pub fn launch(arguments: &[&[u8]]) -> ! {
    process::set_umask(UMASK);
    let arguments: Vec<CString> = arguments.iter().map(|a| CString::new(*a).unwrap_or_default()).collect();
    let arguments: Vec<&CStr> = arguments.iter().map(CString::as_c_str).collect();
    let failure = Options::parse(&arguments)
        .and_then(|options| prepare(&options).map(|()| execute(&options)))
        .unwrap_or_else(|failure| failure);
    let _ = process::print(2, format!("launch: {failure}\n").as_bytes());
    process::exit(1)
}

/// Prepares the file systems for a runtime.
fn prepare(options: &Options) -> Step<()> {
    // The lock belongs to the process, so it lasts until the runtime exits.
    core::mem::forget(lock(options.lock)?);
    mount::private_namespace()?;
    let ids = userns::with_range(options.base)?;
    set_stage(options, &ids)?;
    mount::name(&ids, c"userns")?;
    options.hidden.iter().try_for_each(|path| mount::hide(path))
}

/// Starts the sandbox without a runtime. Its init process creates namespaces while the launcher prepares the disk.
fn start(options: &Options, entry: &Entry, secret: &[u8]) -> Step<()> {
    let _lock = lock(options.lock)?;
    mount::private_namespace()?;
    let group = cgroup::join(&entry.groups)?;
    let init = InitProcess::spawn(options, entry, secret, group.as_ref())?;
    let ids = init.map(options.base)?;
    set_stage(options, &ids)?;
    cgroup::set_final_limits(&entry.groups)?;
    write_pid(init.pid())?;
    init.await_guest()
}

/// Writes the process id before the guest runs, so that the file exists when the guest connects.
fn write_pid(pid: i32) -> Step<()> {
    let step = |e| failed("note the process id", e);
    let note = file::create(c"pid", libc::O_TRUNC).map_err(step)?;
    note.write(format!("{pid}").as_bytes()).map(drop).map_err(step)
}

fn set_stage(options: &Options, ids: &Fd) -> Step<()> {
    mount::bind(options.directory, options.stage, mount::NOSUID | mount::NODEV, None)?;
    process::change_directory(options.stage).map_err(|e| failed("enter the stage", e))?;
    match options.disk {
        Disk::Image { image, template } => disk::attach_image(image, template, ids)?,
        Disk::Directory(directory) => mount::bind(directory, c"disk", mount::NOSUID | mount::NODEV, Some(ids))?,
    }
    mount::bind(options.lower, c"lower", mount::READ_ONLY | mount::NOSUID | mount::NODEV, Some(ids))?;
    mount::overlay()?;
    options.binds.iter().try_for_each(|(source, target)| {
        mount::bind_tree(source, target, mount::READ_ONLY | mount::NOSUID | mount::NODEV)
    })
}

/// Takes the lock of the machine's directory.
fn lock(path: &CStr) -> Step<Fd> {
    let flags = libc::O_RDWR | libc::O_CREAT;
    // SAFETY: the path is a C string.
    let fd = unsafe { syscall!(libc::SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags, 0o600) }
        .map_err(|e| failed("open the lock", e))?;
    let lock = Fd::owned(fd);
    file::try_lock(&lock).map_err(|e| failed("take the lock (is another launch under way?)", e))?;
    Ok(lock)
}

/// Executes the runtime.
fn execute(options: &Options) -> String {
    let mut argv: Vec<*const u8> = options.command.iter().map(|a| a.as_ptr().cast()).collect();
    argv.push(core::ptr::null());
    let environment = [ENVIRONMENT.as_ptr().cast(), core::ptr::null()];
    failed("execute the runtime", process::execute(options.command[0], &argv, &environment))
}

/// Error message for a step that failed at a path.
fn about(step: &str, path: &CStr, error: Errno) -> String {
    failed(&format!("{step} {}", String::from_utf8_lossy(path.to_bytes())), error)
}

fn failed(step: &str, errno: Errno) -> String {
    let name = match errno.0 {
        libc::EPERM => "not permitted",
        libc::ENOENT => "no such file",
        libc::EIO => "input or output error",
        libc::EAGAIN => "held by another",
        libc::ENOMEM => "out of memory",
        libc::EACCES => "access denied",
        libc::EBUSY => "busy",
        libc::ENODEV => "not in this kernel",
        libc::ENOTDIR => "not a directory",
        libc::EINVAL => "invalid",
        libc::ENOSPC => "no space, or too many mounts",
        libc::EROFS => "read-only file system",
        libc::ENOSYS => "kernel too old",
        _ => "",
    };
    format!("{step}: {name} (errno {})", errno.0)
}
