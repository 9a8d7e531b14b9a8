//! Mounts, created detached and attached when complete.

use alloc::ffi::CString;
use alloc::format;
use alloc::vec::Vec;
use core::ffi::CStr;

use super::options::Mount;
use super::{Step, about, failed};
use vivarium_sys::{Fd, Result, syscall};

pub const READ_ONLY: u64 = 0x1;
pub const NOSUID: u64 = 0x2;
pub const NODEV: u64 = 0x4;
pub const NOEXEC: u64 = 0x8;
pub const NOATIME: u64 = 0x10;
const IDMAP: u64 = 0x0010_0000;

const OPEN_TREE_CLONE: i32 = 1;
const AT_RECURSIVE: i32 = 0x8000;
const MOVE_FROM_EMPTY_PATH: i32 = 0x4;
const FSOPEN_CLOEXEC: i32 = 1;
const FSMOUNT_CLOEXEC: i32 = 1;
const SET_FLAG: i32 = 0;
const SET_STRING: i32 = 1;
const CREATE: i32 = 6;

/// `struct mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

/// Enters a private mount namespace. Mounts do not propagate in either direction.
pub fn private_namespace() -> Step<()> {
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the target is a constant C string; source, type and data are not read for a change of propagation.
    unsafe {
        syscall!(libc::SYS_unshare, libc::CLONE_NEWNS).map_err(|e| failed("make a mount namespace", e))?;
        syscall!(libc::SYS_mount, 0, c"/".as_ptr(), 0, private, 0).map_err(|e| failed("make all mounts private", e))?;
    }
    Ok(())
}

/// Binds one mount (not those below it), with its ids mapped if `ids` is given.
pub fn bind(source: &CStr, target: &CStr, attributes: u64, ids: Option<&Fd>) -> Step<()> {
    place(clone(None, source, 0)?, target, attributes, ids, 0)
}

/// Binds `source`, relative to a directory that may be outside the current root.
pub fn bind_from(directory: &Fd, source: &CStr, target: &CStr, attributes: u64) -> Step<()> {
    place(clone(Some(directory), source, 0)?, target, attributes, None, 0)
}

/// Binds a whole tree of mounts.
pub fn bind_tree(source: &CStr, target: &CStr, attributes: u64) -> Step<()> {
    place(clone(None, source, AT_RECURSIVE)?, target, attributes, None, AT_RECURSIVE)
}

fn clone(directory: Option<&Fd>, source: &CStr, recursive: i32) -> Step<Fd> {
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | recursive;
    let directory = directory.map_or(libc::AT_FDCWD, Fd::raw) as isize;
    // SAFETY: the path is a C string.
    unsafe { syscall!(libc::SYS_open_tree, directory, source.as_ptr(), flags) }
        .map(Fd::owned)
        .map_err(|e| about("clone the mount of", source, e))
}

fn place(tree: Fd, target: &CStr, attributes: u64, ids: Option<&Fd>, recursive: i32) -> Step<()> {
    let wanted = Attributes {
        set: attributes | if ids.is_some() { IDMAP } else { 0 },
        clear: 0,
        propagation: 0,
        userns: ids.map_or(0, |fd| fd.raw() as u64),
    };
    let flags = libc::AT_EMPTY_PATH | recursive;
    // SAFETY: the structure and the paths outlive the calls.
    unsafe {
        let size = size_of::<Attributes>();
        syscall!(libc::SYS_mount_setattr, tree.raw(), c"".as_ptr(), flags, &raw const wanted, size)
            .map_err(|e| about("set the attributes (id map?) of the mount for", target, e))?;
        let here = libc::AT_FDCWD as isize;
        syscall!(libc::SYS_move_mount, tree.raw(), c"".as_ptr(), here, target.as_ptr(), MOVE_FROM_EMPTY_PATH)
            .map_err(|e| about("mount on", target, e))?;
    }
    Ok(())
}

/// Adds attributes to the mount at `path`, not to mounts below it.
pub fn set(path: &CStr, attributes: u64) -> Step<()> {
    let wanted = Attributes { set: attributes, clear: 0, propagation: 0, userns: 0 };
    // SAFETY: the structure and the path outlive the call.
    unsafe {
        let (here, size) = (libc::AT_FDCWD as isize, size_of::<Attributes>());
        syscall!(libc::SYS_mount_setattr, here, path.as_ptr(), 0, &raw const wanted, size)
    }
    .map(drop)
    .map_err(|e| about("set the attributes of", path, e))
}

/// Attributes in the options of a mount. The flags of `mount(2)` have the same values.
pub fn attributes(options: &CStr) -> u64 {
    options.to_bytes().split(|b| *b == b',').filter_map(attribute).fold(0, |all, one| all | one)
}

fn attribute(option: &[u8]) -> Option<u64> {
    match option {
        b"ro" => Some(READ_ONLY),
        b"nosuid" => Some(NOSUID),
        b"nodev" => Some(NODEV),
        b"noexec" => Some(NOEXEC),
        _ => None,
    }
}

/// Mounts a kernel file system. Its type is its source.
pub fn classic(mount: &Mount) -> Step<()> {
    let words = mount.options.to_bytes().split(|b| *b == b',').filter(|word| attribute(word).is_none());
    let data = CString::new(words.collect::<Vec<_>>().join(&b',')).unwrap_or_default();
    let (kind, target, flags) = (mount.source.as_ptr(), mount.target.as_ptr(), attributes(mount.options));
    // SAFETY: all are C strings.
    unsafe { syscall!(libc::SYS_mount, kind, target, kind, flags, data.as_ptr()) }
        .map(drop)
        .map_err(|e| about("mount on", mount.target, e))
}

/// Mounts a block device that holds ext4 on `target`.
///
/// The inode tables need no background initialization, because a sparse image reads as zeroes. Discard punches holes
/// into the image, so that removed files release space of the host.
pub fn ext4(device: &CStr, target: &CStr, ids: &Fd) -> Step<()> {
    let step = |e| failed("mount the disk", e);
    let context = open_filesystem(c"ext4").map_err(step)?;
    configure(&context, SET_STRING, c"source", Some(device)).map_err(step)?;
    for flag in [c"noinit_itable", c"discard"] {
        configure(&context, SET_FLAG, flag, None).map_err(step)?;
    }
    let tree = finish(&context, NOSUID | NODEV | NOATIME).map_err(step)?;
    place(tree, target, 0, Some(ids), 0)
}

/// Mounts `disk/upper` over `lower` on `rootfs`. The names are relative, because the sandbox can read the options of
/// its root and must not see paths of the host.
pub fn overlay() -> Step<()> {
    let step = |e| failed("mount the overlay", e);
    let context = open_filesystem(c"overlay").map_err(step)?;
    let options =
        [(c"source", c"root"), (c"lowerdir", c"lower"), (c"upperdir", c"disk/upper"), (c"workdir", c"disk/work")];
    for (name, value) in options {
        configure(&context, SET_STRING, name, Some(value)).map_err(step)?;
    }
    let tree = finish(&context, NOSUID | NODEV).map_err(step)?;
    place(tree, c"rootfs", 0, None, 0)
}

fn open_filesystem(kind: &CStr) -> Result<Fd> {
    // SAFETY: the name is a C string.
    unsafe { syscall!(libc::SYS_fsopen, kind.as_ptr(), FSOPEN_CLOEXEC) }.map(Fd::owned)
}

fn configure(context: &Fd, command: i32, name: &CStr, value: Option<&CStr>) -> Result<usize> {
    let value = value.map_or(core::ptr::null(), CStr::as_ptr);
    // SAFETY: both are C strings, or null where the command takes no value.
    unsafe { syscall!(libc::SYS_fsconfig, context.raw(), command, name.as_ptr(), value, 0) }
}

fn finish(context: &Fd, attributes: u64) -> Result<Fd> {
    // SAFETY: CREATE takes no key and no value.
    unsafe {
        syscall!(libc::SYS_fsconfig, context.raw(), CREATE, 0, 0, 0)?;
        syscall!(libc::SYS_fsmount, context.raw(), FSMOUNT_CLOEXEC, attributes).map(Fd::owned)
    }
}

/// Binds a namespace to a file, so that the runtime can open it.
pub fn name(namespace: &Fd, target: &CStr) -> Step<()> {
    let source = alloc::ffi::CString::new(format!("/proc/self/fd/{}", namespace.raw())).unwrap_or_default();
    // SAFETY: both are C strings; a bind mount reads neither type nor data.
    unsafe { syscall!(libc::SYS_mount, source.as_ptr(), target.as_ptr(), 0, libc::MS_BIND, 0) }
        .map(drop)
        .map_err(|e| about("give a name to", target, e))
}

/// Unmounts a mount of the host in this namespace, if it exists.
pub fn hide(path: &CStr) -> Step<()> {
    // SAFETY: the path is a C string.
    match unsafe { syscall!(libc::SYS_umount2, path.as_ptr(), libc::MNT_DETACH) } {
        Ok(_) => Ok(()),
        Err(error) if [libc::EINVAL, libc::ENOENT].contains(&error.0) => Ok(()),
        Err(error) => Err(about("hide", path, error)),
    }
}
