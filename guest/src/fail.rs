//! Failures of requests.

use crate::wire::{Frames, kind};
use vivarium_sys::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Code {
    Invalid = 1,
    NotFound = 2,
    NotPermitted = 3,
    Exists = 4,
    NotAFile = 5,
    NotADirectory = 6,
    Escapes = 7,
    TooLarge = 8,
    TooManyFiles = 9,
    WorkspaceFull = 10,
    NoSpace = 11,
    ProcessLimit = 12,
    OutOfMemory = 13,
    Refused = 14,
    Unsupported = 15,
    InputOutput = 16,
    Busy = 17,
    NotEmpty = 18,
}

/// The content of a FAIL frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fail {
    pub code: Code,
    pub errno: i32,
    pub actual: u64,
    pub limit: u64,
    pub message: &'static str,
}

impl Fail {
    pub fn new(code: Code, message: &'static str) -> Fail {
        Fail { code, errno: 0, actual: 0, limit: 0, message }
    }

    pub fn beyond(code: Code, actual: u64, limit: u64, message: &'static str) -> Fail {
        Fail { code, errno: 0, actual, limit, message }
    }

    /// Creates a failure from an error of the kernel and the operation that failed.
    pub fn of(Errno(errno): Errno, message: &'static str) -> Fail {
        Fail { code: code_of(errno), errno, actual: 0, limit: 0, message }
    }

    pub fn send(&self, channel: u32, out: &mut Frames) {
        out.begin(channel, kind::FAIL)
            .u16(self.code as u16)
            .u32(self.errno as u32)
            .u64(self.actual)
            .u64(self.limit)
            .string(self.message.as_bytes())
            .end();
    }
}

fn code_of(errno: i32) -> Code {
    match errno {
        libc::ENOENT => Code::NotFound,
        libc::EACCES | libc::EPERM | libc::EROFS => Code::NotPermitted,
        libc::EEXIST => Code::Exists,
        libc::EISDIR | libc::ENXIO => Code::NotAFile,
        libc::ENOTDIR => Code::NotADirectory,
        libc::EXDEV => Code::Escapes,
        libc::EFBIG => Code::TooLarge,
        libc::ENOSPC | libc::EDQUOT => Code::NoSpace,
        libc::ENOMEM => Code::OutOfMemory,
        libc::ECONNREFUSED => Code::Refused,
        libc::ENOSYS | libc::EOPNOTSUPP => Code::Unsupported,
        libc::EMFILE | libc::ENFILE | libc::EBUSY | libc::ETXTBSY => Code::Busy,
        libc::ENOTEMPTY => Code::NotEmpty,
        libc::EINVAL | libc::ENAMETOOLONG | libc::ELOOP | libc::E2BIG | libc::ENOEXEC => Code::Invalid,
        _ => Code::InputOutput,
    }
}
