//! The launcher's command line.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::CStr;

use super::Step;

/// Disk of the sandbox.
pub enum Disk<'a> {
    /// Sparse ext4 image, copied from `template` if it does not exist.
    Image { image: &'a CStr, template: &'a CStr },
    /// Plain directory without a size limit.
    Directory(&'a CStr),
}

pub struct Options<'a> {
    pub lock: &'a CStr,
    pub stage: &'a CStr,
    /// Directory of the sandbox, mounted on the stage.
    pub directory: &'a CStr,
    /// First id of the sandbox's range of users and groups.
    pub base: u32,
    pub disk: Disk<'a>,
    pub lower: &'a CStr,
    /// Source on the host, target below the stage.
    pub binds: Vec<(&'a CStr, &'a CStr)>,
    pub hidden: Vec<&'a CStr>,
    /// Command of the runtime, or of the guest without a runtime.
    pub command: &'a [&'a CStr],
    pub entry: Option<Entry<'a>>,
}

/// Options of a sandbox that starts without a runtime.
pub struct Entry<'a> {
    pub hostname: &'a CStr,
    pub groups: Groups<'a>,
    /// Kernel file systems, such as proc.
    pub mounts: Vec<Mount<'a>>,
    /// Sources are below the stage.
    pub binds: Vec<Mount<'a>>,
    pub masked: Vec<&'a CStr>,
    pub read_only: Vec<&'a CStr>,
}

pub struct Mount<'a> {
    pub source: &'a CStr,
    pub target: &'a CStr,
    pub options: &'a CStr,
}

/// Cgroups of the sandbox. The launcher creates missing ones.
#[derive(Default)]
pub struct Groups<'a> {
    /// Groups of version 1.
    pub joined: Vec<&'a CStr>,
    /// Group of version 2.
    pub unified: Option<&'a CStr>,
    /// Files and their values, in order.
    pub settings: Vec<(&'a CStr, &'a CStr)>,
    /// Files and values to write last, because they would restrict the launcher.
    pub final_settings: Vec<(&'a CStr, &'a CStr)>,
}

/// Options parsed so far.
#[derive(Default)]
struct Reading<'a> {
    lock: Option<&'a CStr>,
    stage: Option<&'a CStr>,
    directory: Option<&'a CStr>,
    base: Option<u32>,
    disk: Option<Disk<'a>>,
    lower: Option<&'a CStr>,
    binds: Vec<(&'a CStr, &'a CStr)>,
    hidden: Vec<&'a CStr>,
    hostname: Option<&'a CStr>,
    groups: Groups<'a>,
    mounts: Vec<Mount<'a>>,
    inner_binds: Vec<Mount<'a>>,
    masked: Vec<&'a CStr>,
    read_only: Vec<&'a CStr>,
}

impl<'a> Reading<'a> {
    fn take(&mut self, name: &'a CStr, mut rest: impl Iterator<Item = &'a CStr>) -> Step<()> {
        let mut next = || rest.next().ok_or_else(|| format!("{} needs more values", text(name)));
        match name.to_bytes() {
            b"--lock" => self.lock = Some(next()?),
            b"--stage" => self.stage = Some(next()?),
            b"--directory" => self.directory = Some(next()?),
            b"--base" => self.base = text(next()?).parse::<u32>().ok(),
            b"--disk-image" => self.disk = Some(Disk::Image { image: next()?, template: next()? }),
            b"--disk-directory" => self.disk = Some(Disk::Directory(next()?)),
            b"--lower" => self.lower = Some(next()?),
            b"--bind" => self.binds.push((next()?, next()?)),
            b"--hide" => self.hidden.push(next()?),
            b"--start" => self.hostname = Some(next()?),
            b"--join" => self.groups.joined.push(next()?),
            b"--unified" => self.groups.unified = Some(next()?),
            b"--set" => self.groups.settings.push((next()?, next()?)),
            b"--seal" => self.groups.final_settings.push((next()?, next()?)),
            b"--mount" => self.mounts.push(Mount { source: next()?, target: next()?, options: next()? }),
            b"--inner-bind" => self.inner_binds.push(Mount { source: next()?, target: next()?, options: next()? }),
            b"--mask" => self.masked.push(next()?),
            b"--read-only" => self.read_only.push(next()?),
            _ => return Err(format!("unknown option {}", text(name))),
        }
        Ok(())
    }

    fn finish(self, command: &'a [&'a CStr]) -> Step<Options<'a>> {
        let (groups, mounts, binds) = (self.groups, self.mounts, self.inner_binds);
        let (masked, read_only) = (self.masked, self.read_only);
        Ok(Options {
            lock: self.lock.ok_or("--lock is missing")?,
            stage: self.stage.ok_or("--stage is missing")?,
            directory: self.directory.ok_or("--directory is missing")?,
            base: self.base.filter(|b| *b >= 65536).ok_or("--base is missing, or not a number from 65536")?,
            disk: self.disk.ok_or("--disk-image or --disk-directory is missing")?,
            lower: self.lower.ok_or("--lower is missing")?,
            binds: self.binds,
            hidden: self.hidden,
            command,
            entry: self.hostname.map(|hostname| Entry { hostname, groups, mounts, binds, masked, read_only }),
        })
    }
}

impl<'a> Options<'a> {
    /// Options with their values, `--`, then the command. With `--start` the sandbox is started without a runtime.
    pub fn parse(arguments: &'a [&'a CStr]) -> Step<Options<'a>> {
        let end = arguments.iter().position(|a| *a == c"--").ok_or("no '--' before the command")?;
        let (mut given, command) = (arguments[..end].iter().copied(), &arguments[end + 1..]);
        let mut reading = Reading::default();
        while let Some(name) = given.next() {
            reading.take(name, &mut given)?;
        }
        if command.is_empty() {
            return Err("no command after '--'".to_string());
        }
        reading.finish(command)
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
    fn a_missing_option_is_named() {
        assert!(refusal(&COMPLETE[2..]).contains("--lock"));
        assert!(refusal(&COMPLETE[..14]).contains("'--'"));
        assert!(refusal(&COMPLETE[..15]).contains("no command"));
        assert!(refusal(&[c"--bind", c"only", c"--", c"run"]).contains("more values"));
        assert!(refusal(&[c"--what", c"x", c"--", c"run"]).contains("unknown option --what"));
    }

    #[test]
    fn the_command_line_describes_a_sandbox_without_a_runtime() {
        let extra = [c"--start", c"n", c"--join", c"g", c"--set", c"f", c"1", c"--mount", c"proc", c"/proc", c"nosuid"];
        let arguments = [&extra[..], &COMPLETE[..]].concat();
        let entry = Options::parse(&arguments).ok().and_then(|options| options.entry);
        let Some(entry) = entry else { panic!("refused") };
        assert_eq!(
            (entry.hostname, entry.groups.joined, entry.groups.settings),
            (c"n", vec![c"g"], vec![(c"f", c"1")])
        );
        assert_eq!((entry.mounts[0].target, entry.mounts[0].options), (c"/proc", c"nosuid"));
    }

    #[test]
    fn host_users_are_not_a_valid_range() {
        let mut arguments = COMPLETE;
        arguments[7] = c"1000";
        assert!(refusal(&arguments).contains("--base"));
    }
}
