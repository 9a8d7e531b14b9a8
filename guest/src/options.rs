//! The command line.

use vivarium_sys::Usage;

/// Options of `init`.
#[derive(Debug, PartialEq, Eq)]
pub struct Options<'a> {
    pub socket: &'a [u8],
    pub workspace: &'a [u8],
    pub uid: u32,
    pub gid: u32,
    /// Number of processors for commands; 0 means all.
    pub cpus: u32,
    /// Seconds without a host after which the guest shuts down; 0 means never.
    pub orphan_grace: u32,
    /// No isolation. The guest only tracks its process tree.
    pub plain: bool,
    pub seccomp: bool,
}

/// Longest path in a socket address.
const LONGEST_SOCKET: usize = 107;

pub const USAGE: &str = "usage: vivarium-guest init --socket PATH --workspace DIR [--uid N --gid N] [--cpus N]
                           [--orphan-grace SECONDS] [--plain] [--no-seccomp]
       vivarium-guest --version
";

impl<'a> Options<'a> {
    /// Reads the arguments that follow `init`.
    pub fn parse(arguments: &[&'a [u8]]) -> Result<Options<'a>, Usage> {
        let mut options = Options {
            socket: b"",
            workspace: b"",
            uid: 1000,
            gid: 1000,
            cpus: 0,
            orphan_grace: 0,
            plain: false,
            seccomp: true,
        };
        let mut rest = arguments.iter();
        while let Some(option) = rest.next() {
            let mut value = || rest.next().copied().ok_or(Usage("an option lacks its value"));
            match *option {
                b"--socket" => options.socket = value()?,
                b"--workspace" => options.workspace = value()?,
                b"--uid" => options.uid = number(value()?)?,
                b"--gid" => options.gid = number(value()?)?,
                b"--cpus" => options.cpus = number(value()?)?,
                b"--orphan-grace" => options.orphan_grace = number(value()?)?,
                b"--plain" => options.plain = true,
                b"--no-seccomp" => options.seccomp = false,
                _ => return Err(Usage("unknown option")),
            }
        }
        if options.socket.is_empty() || options.workspace.is_empty() {
            return Err(Usage("--socket and --workspace are needed"));
        }
        if options.socket.len() > LONGEST_SOCKET {
            return Err(Usage("the path of the socket is longer than the kernel takes"));
        }
        if options.uid == 0 && !options.plain {
            return Err(Usage("the sandbox user cannot be 0"));
        }
        Ok(options)
    }
}

fn number(text: &[u8]) -> Result<u32, Usage> {
    let number = core::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or(Usage("not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theCommandLineIsParsed() {
        let options = Options::parse(&[b"--socket", b"/s", b"--workspace", b"/w", b"--uid", b"7", b"--plain"]).unwrap();
        assert_eq!((options.socket, options.workspace, options.uid, options.gid), (&b"/s"[..], &b"/w"[..], 7, 1000));
        assert!(options.plain && options.seccomp);
    }

    #[test]
    fn invalidOptionsAreReportedAtTheStart() {
        let long = [b'x'; 108];
        let cases: [&[&[u8]]; 6] = [
            &[b"--socket", b"/s"],
            &[b"--socket"],
            &[b"--socket", b"/s", b"--workspace", b"/w", b"--uid", b"0"],
            &[b"--socket", b"/s", b"--workspace", b"/w", b"--uid", b"many"],
            &[b"--socket", b"/s", b"--workspace", b"/w", b"--orphan-grace", b"-1"],
            &[b"--socket", &long, b"--workspace", b"/w"],
        ];
        for arguments in cases {
            assert!(Options::parse(arguments).is_err());
        }
    }
}
