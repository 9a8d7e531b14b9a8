//! Disk of a sandbox: a sparse ext4 image on a loop device that the kernel detaches after the last unmount.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::ffi::CStr;

use super::{Step, failed, mount};
use vivarium_sys::event::sleep_ms;
use vivarium_sys::{Errno, Fd, Result, file, syscall};

const LOOP_CONFIGURE: usize = 0x4C0A;
const LOOP_CTL_GET_FREE: usize = 0x4C82;
const AUTOCLEAR: u32 = 4;
const DIRECT_IO: u32 = 16;
const FICLONE: usize = 0x4004_9409;
const ENXIO: i32 = 6;

/// Number of attempts to get a free loop device, because concurrent launches may take the same one.
const ATTEMPTS: u32 = 256;
/// Time limit for an earlier machine to release the same image.
const RELEASE_TIMEOUT_MS: u32 = 30_000;

/// `struct loop_config`: descriptor, block size, `struct loop_info64`, reserved.
#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    names: [u8; 160],
    init: [u64; 2],
}

/// Mounts the image on `disk` and writes the number of its loop device to the file `loop`. The server uses it to detect
/// when the device is detached.
pub fn attach_image(image: &CStr, template: &CStr, ids: &Fd) -> Step<()> {
    let backing = match file::open(image, libc::O_RDWR) {
        Err(Errno(libc::ENOENT)) => make(template, image)?,
        other => other.map_err(|e| failed("open the disk image", e))?,
    };
    await_sole_use(&backing)?;
    let (number, device) = bind_loop(&backing)?;
    note(number)?;
    mount_device(&device, ids)
}

/// Mounts the device through a link to its descriptor, because the node in /dev may be missing or replaced. `df` in the
/// sandbox shows the name of the link.
fn mount_device(device: &Fd, ids: &Fd) -> Step<()> {
    let (name, here) = (c"sandbox-disk", libc::AT_FDCWD as isize);
    let target = path(&format!("/proc/self/fd/{}", device.raw()));
    // SAFETY: both names are C strings.
    unsafe { syscall!(libc::SYS_symlinkat, target.as_ptr(), here, name.as_ptr()) }
        .map_err(|e| failed("name the disk", e))?;
    let mounted = mount::ext4(name, c"disk", ids);
    // SAFETY: the name is a C string.
    let _ = unsafe { syscall!(libc::SYS_unlinkat, here, name.as_ptr(), 0) };
    mounted
}

/// Waits until the loop device of an earlier machine is detached, because two devices on one image would destroy it.
/// The kernel grants a write lease only while nothing else has the file open.
fn await_sole_use(backing: &Fd) -> Step<()> {
    for _ in 0..RELEASE_TIMEOUT_MS {
        // SAFETY: no pointers.
        let lease = unsafe { syscall!(libc::SYS_fcntl, backing.raw(), libc::F_SETLEASE, libc::F_WRLCK) };
        match lease {
            Ok(_) => {
                // SAFETY: no pointers.
                let _ = unsafe { syscall!(libc::SYS_fcntl, backing.raw(), libc::F_SETLEASE, libc::F_UNLCK) };
                return Ok(());
            }
            Err(Errno(libc::EAGAIN)) => sleep_ms(1),
            Err(error) => return Err(failed("see whether the disk is in use", error)),
        }
    }
    Err(String::from("the disk image is still in use"))
}

fn bind_loop(backing: &Fd) -> Step<(usize, Fd)> {
    let control = file::open(c"/dev/loop-control", libc::O_RDWR).map_err(|e| failed("open /dev/loop-control", e))?;
    for attempt in 0..ATTEMPTS {
        // SAFETY: no pointers.
        let number = unsafe { syscall!(libc::SYS_ioctl, control.raw(), LOOP_CTL_GET_FREE, 0) }
            .map_err(|e| failed("find a free loop device", e))?;
        match open_loop(number).and_then(|device| configure(&device, backing).map(|()| device)) {
            Ok(device) => return Ok((number, device)),
            Err(Errno(libc::EBUSY | ENXIO | libc::ENOENT)) => sleep_ms(attempt / 16),
            Err(error) => return Err(failed("set up a loop device", error)),
        }
    }
    Err(String::from("set up a loop device: every free one was taken by others"))
}

fn configure(device: &Fd, backing: &Fd) -> Result<()> {
    // Direct I/O avoids a second copy of each page in memory. Falls back to buffered I/O.
    match set_backing(device, backing, AUTOCLEAR | DIRECT_IO) {
        Err(Errno(libc::EINVAL)) => set_backing(device, backing, AUTOCLEAR),
        other => other,
    }
}

fn set_backing(device: &Fd, backing: &Fd, flags: u32) -> Result<()> {
    // SAFETY: all zeroes is a valid configuration.
    let mut config: Config = unsafe { core::mem::zeroed() };
    config.fd = backing.raw() as u32;
    config.info.flags = flags;
    // SAFETY: the kernel reads one `loop_config`.
    unsafe { syscall!(libc::SYS_ioctl, device.raw(), LOOP_CONFIGURE, &raw const config) }.map(drop)
}

/// Opens a loop device. If /dev is not a devtmpfs, creates the node temporarily.
fn open_loop(number: usize) -> Result<Fd> {
    match file::open(&path(&format!("/dev/loop{number}")), libc::O_RDWR) {
        Err(Errno(libc::ENOENT)) => open_loop_by_number(number),
        other => other,
    }
}

fn open_loop_by_number(number: usize) -> Result<Fd> {
    let mut text = [0; 32];
    let device = file::read_small(&path(&format!("/sys/block/loop{number}/dev")), &mut text)?;
    let minor: u64 = core::str::from_utf8(device)
        .ok()
        .and_then(|t| t.trim().split_once(':'))
        .and_then(|(_, minor)| minor.parse().ok())
        .ok_or(Errno(ENXIO))?;
    let device = (minor & 0xff) | (7 << 8) | ((minor & !0xff) << 12);
    let node = path(&format!("loop-node-{number}"));
    let here = libc::AT_FDCWD as isize;
    // SAFETY: the name is a C string.
    unsafe {
        syscall!(libc::SYS_mknodat, here, node.as_ptr(), libc::S_IFBLK | 0o600, device)?;
        let opened = file::open(&node, libc::O_RDWR);
        syscall!(libc::SYS_unlinkat, here, node.as_ptr(), 0)?;
        opened
    }
}

fn note(number: usize) -> Step<()> {
    let step = |e| failed("note the loop device", e);
    let note = file::create(c"loop", libc::O_TRUNC).map_err(step)?;
    note.write(format!("{number}").as_bytes()).map(drop).map_err(step)
}

/// Creates an image atomically: renames the spare copy of the template, or copies the template.
fn make(template: &CStr, image: &CStr) -> Step<Fd> {
    let step = |e| failed("make the disk from its template", e);
    if rename(&spare_of(template), image).is_ok() {
        return file::open(image, libc::O_RDWR).map_err(step);
    }
    let temporary = path(&format!("{}.new", String::from_utf8_lossy(image.to_bytes())));
    let target = file::create(&temporary, libc::O_TRUNC).map_err(step)?;
    copy(template, &target).and_then(|()| rename(&temporary, image)).map_err(step)?;
    Ok(target)
}

/// Creates a spare copy of a template, unless there is one. Flushes it, because a loop device would wait for that.
pub fn keep_spare(template: &CStr) -> Result<()> {
    let spare = spare_of(template);
    if file::open(&spare, libc::O_PATH).is_ok() {
        return Ok(());
    }
    // The file has no name until it is complete. The launcher of a killed server may run the same code, and two writers
    // would corrupt an image that a sandbox already uses.
    let directory = file::open(&parent(template), libc::O_PATH | libc::O_DIRECTORY)?;
    let unnamed = file::open_at(&directory, c".", libc::O_TMPFILE | libc::O_RDWR, 0o600)?;
    copy(template, &unnamed)?;
    let (nothing, here) = (c"".as_ptr(), libc::AT_FDCWD as isize);
    // SAFETY: the names are C strings.
    unsafe {
        syscall!(libc::SYS_fsync, unnamed.raw())?;
        syscall!(libc::SYS_linkat, unnamed.raw(), nothing, here, spare.as_ptr(), libc::AT_EMPTY_PATH).map(drop)
    }
}

fn parent(of: &CStr) -> CString {
    let text = String::from_utf8_lossy(of.to_bytes());
    path(text.rsplit_once('/').map_or(".", |(parent, _)| parent))
}

fn spare_of(template: &CStr) -> CString {
    path(&format!("{}.spare", String::from_utf8_lossy(template.to_bytes())))
}

fn rename(from: &CStr, to: &CStr) -> Result<()> {
    let here = libc::AT_FDCWD as isize;
    // SAFETY: both names are C strings.
    unsafe { syscall!(libc::SYS_renameat2, here, from.as_ptr(), here, to.as_ptr(), 0) }.map(drop)
}

/// Copies a template and keeps it sparse.
fn copy(template: &CStr, target: &Fd) -> Result<()> {
    let source = file::open(template, libc::O_RDONLY)?;
    // SAFETY: no pointers.
    let cloned = unsafe { syscall!(libc::SYS_ioctl, target.raw(), FICLONE, source.raw()) };
    if cloned.is_err() { copy_data(&source, target) } else { Ok(()) }
}

fn copy_data(source: &Fd, target: &Fd) -> Result<()> {
    let size = file::stat_of(source)?.size;
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_ftruncate, target.raw(), size) }?;
    let mut end = 0;
    while let Ok(start) = seek(source, end, libc::SEEK_DATA) {
        end = seek(source, start, libc::SEEK_HOLE)?;
        copy_range(source, target, start, end)?;
    }
    Ok(())
}

fn copy_range(source: &Fd, target: &Fd, mut from: u64, end: u64) -> Result<()> {
    while from < end {
        let (mut at_source, mut at_target) = (from, from);
        // SAFETY: the kernel reads and writes the two offsets.
        let moved = unsafe {
            let (a, b) = (&raw mut at_source, &raw mut at_target);
            syscall!(libc::SYS_copy_file_range, source.raw(), a, target.raw(), b, end - from, 0)
        }?;
        if moved == 0 {
            return Err(Errno(libc::EIO));
        }
        from += moved as u64;
    }
    Ok(())
}

fn seek(fd: &Fd, offset: u64, whence: i32) -> Result<u64> {
    // SAFETY: no pointers.
    unsafe { syscall!(libc::SYS_lseek, fd.raw(), offset, whence) }.map(|at| at as u64)
}

fn path(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(directory: &std::path::Path) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn concurrent_spares_are_complete() {
        let directory = std::env::temp_dir().join(format!("viv-spare-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let template = directory.join("template");
        let content = vec![7; 1 << 20];
        std::fs::write(&template, &content).unwrap();
        let name = path(template.to_str().unwrap());
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (directory, name, content) = (&directory, &name, &content);
                scope.spawn(move || {
                    let mine = directory.join(format!("{worker}"));
                    for _ in 0..25 {
                        let _ = keep_spare(name);
                        if rename(&spare_of(name), &path(mine.to_str().unwrap())).is_ok() {
                            assert!(std::fs::read(&mine).unwrap() == *content, "a spare disk is incomplete");
                            std::fs::remove_file(&mine).unwrap();
                        }
                    }
                });
            }
        });
        let _ = std::fs::remove_file(directory.join("template.spare"));
        assert_eq!(files(&directory), 1, "files remain");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
