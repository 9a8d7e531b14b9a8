//! Resolution of paths beneath the workspace.
//!
//! The kernel resolves paths with `openat2`. Without it (gVisor), or if the kernel keeps returning EAGAIN, the guest
//! walks component by component. Both return an open descriptor, so there is no gap between check and use.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;

use crate::fail::{Code, Fail};
use vivarium_sys::file::{self, open_at, open_beneath, read_link_at, stat_of};
use vivarium_sys::{Errno, Fd, Result};

const BENEATH: u64 = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_MAGICLINKS;
/// Limit of symbolic links, as in the kernel.
const MAX_LINKS: usize = 40;
/// Number of `openat2` calls. A concurrent rename anywhere on the host makes the kernel return EAGAIN for `..`.
const ATTEMPTS: usize = 16;

/// Checks that a path is relative and has no zero byte. `""` is the workspace.
pub fn check(path: &[u8]) -> core::result::Result<CString, Fail> {
    if path.first() == Some(&b'/') {
        return Err(Fail::new(Code::Escapes, "the path is absolute"));
    }
    let path = if path.is_empty() { b"." } else { path };
    CString::new(path).map_err(|_| Fail::new(Code::Invalid, "the path contains a zero byte"))
}

/// Opens a path. With `O_NOFOLLOW` a symbolic link at its end is not followed.
pub fn open(root: &Fd, path: &CStr, flags: i32) -> Result<Fd> {
    for _ in 0..ATTEMPTS {
        match open_beneath(root, path, flags, BENEATH) {
            Err(Errno(libc::EAGAIN)) => {}
            Err(Errno(libc::ENOSYS)) => break,
            other => return other,
        }
    }
    walk(root, path.to_bytes(), flags)
}

/// Opens the parent directory. Returns it with the last component.
pub fn parent(root: &Fd, path: &CStr) -> core::result::Result<(Fd, CString), Fail> {
    let (above, name) = split(path)?;
    let directory = open(root, &above, libc::O_PATH | libc::O_DIRECTORY);
    Ok((directory.map_err(|error| Fail::of(error, "cannot open the parent directory"))?, name))
}

/// Opens the deepest existing directory above the last component. Returns it with the last component, and whether it
/// is the parent.
pub fn existing_parent(root: &Fd, path: &CStr) -> core::result::Result<(Fd, CString, bool), Fail> {
    let (above, name) = split(path)?;
    let mut deepest = open_directory(root, c".")?;
    for prefix in prefixes(&above) {
        match open(root, &prefix?, libc::O_PATH | libc::O_DIRECTORY) {
            Ok(directory) => deepest = directory,
            Err(Errno(libc::ENOENT)) => return Ok((deepest, name, false)),
            Err(error) => return Err(Fail::of(error, "cannot open a parent directory")),
        }
    }
    Ok((deepest, name, true))
}

/// Opens the parent directory and creates missing directories.
pub fn make_parent(root: &Fd, path: &CStr) -> core::result::Result<(Fd, CString), Fail> {
    make_parent_listed(root, path, &mut Vec::new())
}

/// The same, and adds the path of each created directory to `made`, also if the call fails.
pub fn make_parent_listed(
    root: &Fd,
    path: &CStr,
    made: &mut Vec<CString>,
) -> core::result::Result<(Fd, CString), Fail> {
    let (above, name) = split(path)?;
    make_directories(root, &above, made)?;
    parent(root, path).map(|(directory, _)| (directory, name))
}

/// Removes created directories that are still empty.
pub fn remove_made(root: &Fd, made: &[CString]) {
    for path in made.iter().rev() {
        if let Ok((directory, name)) = parent(root, path) {
            let _: Result<()> = file::unlink_at(&directory, &name, libc::AT_REMOVEDIR);
        }
    }
}

fn make_directories(root: &Fd, path: &CStr, made: &mut Vec<CString>) -> core::result::Result<(), Fail> {
    if open(root, path, libc::O_PATH | libc::O_DIRECTORY).is_ok() {
        return Ok(());
    }
    for prefix in prefixes(path) {
        let prefix = prefix?;
        match open(root, &prefix, libc::O_PATH | libc::O_DIRECTORY) {
            Err(Errno(libc::ENOENT)) => make_one(root, prefix, made)?,
            other => drop(other.map_err(|error| Fail::of(error, "cannot open a parent directory"))?),
        }
    }
    Ok(())
}

fn make_one(root: &Fd, path: CString, made: &mut Vec<CString>) -> core::result::Result<(), Fail> {
    let (directory, name) = parent(root, &path)?;
    match file::make_directory_at(&directory, &name, 0o755) {
        Ok(()) => made.push(path),
        Err(Errno(libc::EEXIST)) => {}
        Err(error) => return Err(Fail::of(error, "cannot create a parent directory")),
    }
    Ok(())
}

fn open_directory(root: &Fd, path: &CStr) -> core::result::Result<Fd, Fail> {
    open(root, path, libc::O_PATH | libc::O_DIRECTORY).map_err(|error| Fail::of(error, "cannot open the workspace"))
}

/// The path of each directory on the way to `path`, and `path`.
fn prefixes(path: &CStr) -> impl Iterator<Item = core::result::Result<CString, Fail>> {
    let bytes = path.to_bytes();
    (1..=bytes.len()).filter(|end| *end == bytes.len() || bytes[*end] == b'/').map(|end| check(&bytes[..end]))
}

/// Splits off the last component, which must be a name, not `.` or `..`.
fn split(path: &CStr) -> core::result::Result<(CString, CString), Fail> {
    let bytes = path.to_bytes();
    let mut end = bytes.len();
    while end > 0 && bytes[end - 1] == b'/' {
        end -= 1;
    }
    let start = bytes[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    match &bytes[start..end] {
        b".." if leaves(&bytes[..end]) => Err(Fail::new(Code::Escapes, "the path leaves the workspace")),
        b"" | b"." | b".." => Err(Fail::new(Code::Invalid, "the path does not name a directory entry")),
        name => Ok((check(&bytes[..start])?, check(name)?)),
    }
}

fn leaves(path: &[u8]) -> bool {
    let steps = path.split(|byte| *byte == b'/').scan(0i32, |depth, component| {
        *depth += match component {
            b"" | b"." => 0,
            b".." => -1,
            _ => 1,
        };
        Some(*depth)
    });
    steps.into_iter().any(|depth| depth < 0)
}

/// Walks a path by components. `..` returns to the previous descriptor, so a concurrent rename cannot redirect it.
fn walk(root: &Fd, path: &[u8], flags: i32) -> Result<Fd> {
    let mut way: Vec<Fd> = Vec::new();
    let mut todo: Vec<Vec<u8>> = components(path);
    let mut links = 0;
    while let Some(name) = todo.pop() {
        if name == b".." {
            way.pop().ok_or(Errno(libc::EXDEV))?;
            continue;
        }
        let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
        let here = way.last().unwrap_or(root);
        let next = open_at(here, &name, libc::O_PATH | libc::O_NOFOLLOW, 0)?;
        let last = todo.is_empty();
        if stat_of(&next)?.is(libc::S_IFLNK) && !(last && flags & libc::O_NOFOLLOW != 0) {
            links += 1;
            todo.extend(follow(here, &name, links)?);
        } else if last && flags & libc::O_PATH == 0 {
            return open_at(here, &name, flags | libc::O_NOFOLLOW, 0);
        } else {
            way.push(next);
        }
    }
    let here = way.last().unwrap_or(root);
    if flags & libc::O_DIRECTORY != 0 && !stat_of(here)?.is(libc::S_IFDIR) {
        return Err(Errno(libc::ENOTDIR));
    }
    match way.pop() {
        Some(fd) if flags & libc::O_PATH != 0 => Ok(fd),
        Some(fd) => open_at(&fd, c".", flags, 0),
        None => open_at(root, c".", flags, 0),
    }
}

/// Returns the components as a stack, the first on top.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    parts.rev().map(<[u8]>::to_vec).collect()
}

fn follow(here: &Fd, name: &CStr, links: usize) -> Result<Vec<Vec<u8>>> {
    if links > MAX_LINKS {
        return Err(Errno(libc::ELOOP));
    }
    let mut buffer = [0u8; 4096];
    match read_link_at(here, name, &mut buffer)? {
        [b'/', ..] => Err(Errno(libc::EXDEV)),
        target => Ok(components(target)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::os::unix::fs::symlink;

    /// Resolves a path with the kernel and with `walk`.
    fn resolve_both(root: &Fd, path: &str, flags: i32) -> (Result<u64>, Result<u64>) {
        let path = CString::new(path).unwrap();
        let inode = |fd: Result<Fd>| fd.and_then(|fd| stat_of(&fd)).map(|stat| stat.inode);
        let mut kernel = Err(Errno(libc::EAGAIN));
        while kernel == Err(Errno(libc::EAGAIN)) {
            kernel = inode(open_beneath(root, &path, flags, BENEATH));
        }
        (kernel, inode(walk(root, path.to_bytes(), flags)))
    }

    #[test]
    fn theFallbackWalkAgreesWithTheKernel() {
        let folder = std::env::temp_dir().join(format!("viv-paths-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::write(folder.join("a/b/file"), "x").unwrap();
        for (target, link) in [
            ("a/b", "in"),
            ("/etc", "out"),
            ("../..", "up"),
            ("loop", "loop"),
            ("b/file", "a/near"),
            ("..", "a/top"),
            ("nowhere", "dangling"),
        ] {
            symlink(target, folder.join(link)).unwrap();
        }
        let path = CString::new(folder.to_str().unwrap()).unwrap();
        let root = file::open(&path, libc::O_PATH | libc::O_DIRECTORY).unwrap();
        let paths = [
            ".",
            "a",
            "a/b/file",
            "in/file",
            "in/../a",
            "in/../..",
            "out",
            "out/passwd",
            "up",
            "up/x",
            "loop",
            "a/near",
            "a/top",
            "a/top/in/file",
            "..",
            "a/../..",
            "dangling",
            "a/b/file/x",
            "a/./b//file",
            "missing",
            "a/b/..",
            "a/top/..",
        ];
        for path in paths {
            for flags in
                [libc::O_PATH, libc::O_PATH | libc::O_NOFOLLOW, libc::O_RDONLY, libc::O_PATH | libc::O_DIRECTORY]
            {
                let (kernel, own) = resolve_both(&root, path, flags);
                assert_eq!(kernel, own, "{path} with {flags:o}");
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn aPathIsOpenedWhileTheHostRenamesAllTheTime() {
        let folder = std::env::temp_dir().join(format!("viv-renames-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::write(folder.join("old"), "x").unwrap();
        let path = CString::new(folder.to_str().unwrap()).unwrap();
        let root = file::open(&path, libc::O_PATH | libc::O_DIRECTORY).unwrap();
        let opened = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !opened.load(Relaxed) {
                    std::fs::rename(folder.join("old"), folder.join("new")).unwrap();
                    std::fs::rename(folder.join("new"), folder.join("old")).unwrap();
                }
            });
            let ups = CString::new("a/".to_owned() + &"b/../".repeat(800)).unwrap();
            let failed = (0..200).find_map(|_| open(&root, &ups, libc::O_PATH).err());
            opened.store(true, Relaxed);
            assert_eq!(failed, None);
        });
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn theLastComponentMustBeAName() {
        let code = |path: &str| split(&CString::new(path).unwrap()).unwrap_err().code;
        assert_eq!(code("."), Code::Invalid);
        assert_eq!(code("a/.."), Code::Invalid);
        assert_eq!(code(".."), Code::Escapes);
        assert_eq!(code("a/../.."), Code::Escapes);
        let (above, name) = split(c"a/b/").unwrap();
        assert_eq!((above.to_bytes(), name.to_bytes()), (&b"a/"[..], &b"b"[..]));
    }
}
