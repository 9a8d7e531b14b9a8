//! Parser for the payload of OPEN.

use alloc::vec::Vec;

use crate::wire::{Fields, Violation};

/// Numbers of the services.
pub mod service {
    pub const EXEC: u8 = 1;
    pub const PTY: u8 = 2;
    pub const READ: u8 = 3;
    pub const WRITE: u8 = 4;
    pub const STAT: u8 = 5;
    pub const LIST: u8 = 6;
    pub const MKDIR: u8 = 7;
    pub const MOVE: u8 = 8;
    pub const REMOVE: u8 = 9;
    pub const WATCH: u8 = 10;
    pub const DIAL: u8 = 11;
    pub const STATS: u8 = 12;
    pub const SETUP: u8 = 13;
    pub const HASH: u8 = 14;
    pub const LISTEN: u8 = 15;

    /// Flag: the guest can keep processes for the next host.
    const KEEPING: u64 = 1 << 32;

    /// Bit n: service n is available. Bits from 32 on are features that are no service.
    pub const FEATURES: u64 = ((1 << (LISTEN + 1)) - 2) | KEEPING;
}

/// A command to run, with or without a terminal.
#[derive(Debug, PartialEq, Eq)]
pub struct Exec<'a> {
    pub credit: u32,
    pub with_input: bool,
    pub uid: u32,
    pub gid: u32,
    pub timeout_ms: u64,
    pub idle_timeout_ms: u64,
    pub output_limit: u64,
    pub cwd: &'a [u8],
    pub argv: Vec<&'a [u8]>,
    pub env: Vec<&'a [u8]>,
    /// Columns and rows; present for a terminal only.
    pub size: Option<(u16, u16)>,
    /// Name by which the next host attaches; present for a kept process only.
    pub kept: Option<&'a [u8]>,
}

/// One request. Paths are relative to the workspace.
#[derive(Debug, PartialEq, Eq)]
pub enum Request<'a> {
    Exec(Exec<'a>),
    Read { credit: u32, path: &'a [u8], offset: u64, length: u64 },
    Write(Write<'a>),
    Stat { path: &'a [u8], follow: bool },
    List { credit: u32, path: &'a [u8], recursive: bool, max_entries: u32 },
    Mkdir { path: &'a [u8], mode: u32, parents: bool },
    Move { from: &'a [u8], to: &'a [u8], replace: bool },
    Remove { path: &'a [u8], recursive: bool },
    Watch { credit: u32, path: &'a [u8], recursive: bool },
    Dial { credit: u32, family: u8, port: u16, path: &'a [u8] },
    Stats,
    Setup { cpus: u32, orphan_grace: Option<u32> },
    Hash { path: &'a [u8] },
    Listen { credit: u32, port: u16, most: u16 },
}

/// Request to write a file. A limit of 0 means no limit.
#[derive(Debug, PartialEq, Eq)]
pub struct Write<'a> {
    pub path: &'a [u8],
    pub mode: u32,
    pub make_parents: bool,
    pub fail_if_exists: bool,
    pub keep_mode: bool,
    pub max_size: u64,
    pub max_files: u64,
    pub max_total: u64,
}

impl<'a> Request<'a> {
    /// Parses a request. Returns none if the service is unknown.
    pub fn decode(payload: &'a [u8]) -> Result<Option<Request<'a>>, Violation> {
        let mut f = Fields(payload);
        let request = match f.u8()? {
            number @ (service::EXEC | service::PTY) => Request::Exec(exec(&mut f, number == service::PTY)?),
            service::READ => Request::Read { credit: f.u32()?, path: f.string()?, offset: f.u64()?, length: f.u64()? },
            service::WRITE => Request::Write(write(&mut f)?),
            service::STAT => Request::Stat { path: f.string()?, follow: f.u8()? != 0 },
            service::LIST => {
                Request::List { credit: f.u32()?, path: f.string()?, recursive: f.u8()? != 0, max_entries: f.u32()? }
            }
            service::MKDIR => Request::Mkdir { path: f.string()?, mode: f.u32()?, parents: f.u8()? != 0 },
            service::MOVE => Request::Move { from: f.string()?, to: f.string()?, replace: f.u8()? != 0 },
            service::REMOVE => Request::Remove { path: f.string()?, recursive: f.u8()? != 0 },
            service::WATCH => Request::Watch { credit: f.u32()?, path: f.string()?, recursive: f.u8()? != 0 },
            service::DIAL => Request::Dial { credit: f.u32()?, family: f.u8()?, port: f.u16()?, path: f.string()? },
            service::STATS => Request::Stats,
            service::SETUP => Request::Setup { cpus: f.u32()?, orphan_grace: f.appended(Fields::u32)? },
            service::HASH => Request::Hash { path: f.string()? },
            service::LISTEN => Request::Listen { credit: f.u32()?, port: f.u16()?, most: f.u16()? },
            _ => return Ok(None),
        };
        Ok(Some(request))
    }
}

fn exec<'a>(f: &mut Fields<'a>, terminal: bool) -> Result<Exec<'a>, Violation> {
    let (credit, flags) = (f.u32()?, f.u8()?);
    Ok(Exec {
        credit,
        with_input: flags & 1 != 0,
        uid: f.u32()?,
        gid: f.u32()?,
        timeout_ms: f.u64()?,
        idle_timeout_ms: f.u64()?,
        output_limit: f.u64()?,
        cwd: f.string()?,
        argv: f.strings()?,
        env: f.strings()?,
        size: if terminal { Some((f.u16()?, f.u16()?)) } else { None },
        kept: if flags & 2 != 0 { Some(f.string()?) } else { None },
    })
}

fn write<'a>(f: &mut Fields<'a>) -> Result<Write<'a>, Violation> {
    let (path, mode, flags) = (f.string()?, f.u32()?, f.u8()?);
    Ok(Write {
        path,
        mode,
        make_parents: flags & 1 != 0,
        fail_if_exists: flags & 2 != 0,
        keep_mode: flags & 4 != 0,
        max_size: f.u64()?,
        max_files: f.u64()?,
        max_total: f.u64()?,
    })
}
