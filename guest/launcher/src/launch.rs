//! Launcher mode: builds a sandbox's file systems in a mount namespace of its own, then becomes the runtime, or
//! starts the sandbox by itself (`serve.rs`).
//!
//! Nothing it mounts is seen by the host, so nothing is left when anything dies, and a thousand sandboxes do not
//! slow down the start of the next. The order matters: the lock first (whoever removes a half-made sandbox waits
//! for it), then the private namespace, then the disk, the root and what is bound into it.
//!
//! Everything appears below one fixed directory, the *stage*, which each launch covers with its own sandbox's
//! directory. So the bundle names no path of the host, and a parent that only root may enter is no hindrance.

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

/// What a step gives: a result, or one line for people.
type Step<T> = core::result::Result<T, String>;

/// All that the runtime gets of an environment.
const ENVIRONMENT: &CStr = c"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Directories that are made on the way are for everybody in the sandbox, whatever the server's own mask is.
const UMASK: u32 = 0o022;

/// Runs the launcher with the arguments that follow `launch`: becomes the runtime, or says in one line why not.
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

/// Prepares everything for a runtime.
fn prepare(options: &Options) -> Step<()> {
    // The lock must last until the runtime is done: it belongs to this process and dies with it.
    core::mem::forget(lock(options.lock)?);
    mount::private_namespace()?;
    let ids = userns::with_range(options.base)?;
    set_stage(options, &ids)?;
    mount::name(&ids, c"userns")?;
    options.hidden.iter().try_for_each(|path| mount::hide(path))
}

/// Starts the sandbox without a runtime. Its first process makes namespaces while we work on the disk.
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

/// Before there is a guest: whoever hears from it can look for its process.
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

/// The lock of the machine's directory, which lasts until the runtime is done.
fn lock(path: &CStr) -> Step<Fd> {
    let flags = libc::O_RDWR | libc::O_CREAT;
    // SAFETY: the path is a C string.
    let fd = unsafe { syscall!(libc::SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags, 0o600) }
        .map_err(|e| failed("open the lock", e))?;
    let lock = Fd::owned(fd);
    file::try_lock(&lock).map_err(|e| failed("take the lock (is another launch under way?)", e))?;
    Ok(lock)
}

/// Becomes the runtime.
fn execute(options: &Options) -> String {
    let mut argv: Vec<*const u8> = options.command.iter().map(|a| a.as_ptr().cast()).collect();
    argv.push(core::ptr::null());
    let environment = [ENVIRONMENT.as_ptr().cast(), core::ptr::null()];
    failed("execute the runtime", process::execute(options.command[0], &argv, &environment))
}

/// A step that failed at a path.
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
