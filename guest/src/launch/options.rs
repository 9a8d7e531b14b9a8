//! The launcher's command line.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::CStr;

use super::Step;

/// Where the sandbox keeps what it writes.
pub enum Disk<'a> {
    /// A sparse ext4 image, copied from `template` if it is not there yet.
    Image { image: &'a CStr, template: &'a CStr },
    /// A plain directory, without a limit of its own.
    Directory(&'a CStr),
}

pub struct Options<'a> {
    pub lock: &'a CStr,
    pub stage: &'a CStr,
    /// The sandbox's own directory, which covers the stage.
    pub directory: &'a CStr,
    /// First id of the sandbox's range of users and groups.
    pub base: u32,
    pub disk: Disk<'a>,
    pub lower: &'a CStr,
    /// Source on the host, target below the stage.
    pub binds: Vec<(&'a CStr, &'a CStr)>,
    pub hidden: Vec<&'a CStr>,
    pub command: &'a [&'a CStr],
}

impl<'a> Options<'a> {
    /// `--name value` pairs (`--bind` and `--disk-image` take two values), `--`, then the runtime's command.
    pub fn parse(arguments: &'a [&'a CStr]) -> Step<Options<'a>> {
        let end = arguments.iter().position(|a| *a == c"--").ok_or("no '--' before the runtime's command")?;
        let (mut given, command) = (arguments[..end].iter().copied(), &arguments[end + 1..]);
        let (mut lock, mut stage, mut directory, mut lower) = (None, None, None, None);
        let (mut base, mut disk, mut binds, mut hidden) = (None, None, Vec::new(), Vec::new());
        while let Some(name) = given.next() {
            let value = given.next().ok_or_else(|| format!("{} needs a value", text(name)))?;
            let mut second = || given.next().ok_or_else(|| format!("{} needs two values", text(name)));
            match name.to_bytes() {
                b"--lock" => lock = Some(value),
                b"--stage" => stage = Some(value),
                b"--directory" => directory = Some(value),
                b"--base" => base = text(value).parse::<u32>().ok(),
                b"--disk-image" => disk = Some(Disk::Image { image: value, template: second()? }),
                b"--disk-directory" => disk = Some(Disk::Directory(value)),
                b"--lower" => lower = Some(value),
                b"--bind" => binds.push((value, second()?)),
                b"--hide" => hidden.push(value),
                _ => return Err(format!("unknown option {}", text(name))),
            }
        }
        if command.is_empty() {
            return Err("no command after '--'".to_string());
        }
        Ok(Options {
            lock: lock.ok_or("--lock is missing")?,
            stage: stage.ok_or("--stage is missing")?,
            directory: directory.ok_or("--directory is missing")?,
            base: base.filter(|b| *b >= 65536).ok_or("--base is missing, or not a number from 65536")?,
            disk: disk.ok_or("--disk-image or --disk-directory is missing")?,
            lower: lower.ok_or("--lower is missing")?,
            binds,
            hidden,
            command,
        })
    }
}

fn text(argument: &CStr) -> String {
    String::from_utf8_lossy(argument.to_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: [&CStr; 16] = [
        c"--lock",
        c"l",
        c"--stage",
        c"s",
        c"--directory",
        c"d",
        c"--base",
        c"65536",
        c"--disk-directory",
        c"k",
        c"--lower",
        c"r",
        c"--hide",
        c"h",
        c"--",
        c"run",
    ];

    fn refusal(arguments: &[&CStr]) -> String {
        Options::parse(arguments).err().unwrap_or_default()
    }

    #[test]
    fn a_complete_line_is_read() {
        let Ok(options) = Options::parse(&COMPLETE) else { panic!("refused") };
        assert_eq!((options.base, options.command, options.hidden.len()), (65536, &[c"run"][..], 1));
        assert!(matches!(options.disk, Disk::Directory(path) if path == c"k"));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(refusal(&COMPLETE[2..]).contains("--lock"));
        assert!(refusal(&COMPLETE[..14]).contains("'--'"));
        assert!(refusal(&COMPLETE[..15]).contains("no command"));
        assert!(refusal(&[c"--bind", c"only", c"--", c"run"]).contains("two values"));
        assert!(refusal(&[c"--what", c"x", c"--", c"run"]).contains("unknown option --what"));
    }

    #[test]
    fn users_of_the_host_are_no_range() {
        let mut arguments = COMPLETE;
        arguments[7] = c"1000";
        assert!(refusal(&arguments).contains("--base"));
    }
}
