//! Start of commands and terminals.

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;

use crate::context::{Context, Opened, User, token};
use crate::fail::{Code, Fail};
use crate::process::{Limits, Mode, Process};
use crate::pty;
use crate::request::Exec;
use crate::spawn::{Plan, SpawnError, spawn};
use crate::streams::Outbound;
use crate::wire::kind;
use vivarium_sys::Fd;
use vivarium_sys::file::{pipe, set_nonblocking};

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Longest name of a kept process. The handshake with all names must fit into one small frame.
const LONGEST_NAME: usize = 32;

/// The ends of a command's standard streams.
struct Ends {
    /// The guest's end. None for `/dev/null` and for a terminal, whose output descriptor is used for input too.
    input: Option<Fd>,
    outputs: [Option<Fd>; 2],
    /// The command's ends. The guest closes them after the start.
    child_ends: Vec<Fd>,
    standard: [i32; 3],
}

/// Starts the command and sends STARTED.
pub fn open(channel: u32, request: &Exec, context: &mut Context) -> Opened {
    let strings = Strings::of(request)?;
    if request.uid == 0 && !context.user.plain {
        return Err(Fail::new(Code::NotPermitted, "a command cannot run as the user of the guest"));
    }
    if request.kept.is_some_and(|name| name.is_empty() || name.len() > LONGEST_NAME) {
        return Err(Fail::new(Code::Invalid, "the name of a kept process has 1 to 32 bytes"));
    }
    let user = User { uid: request.uid, gid: request.gid, ..context.user };
    let ends =
        ends(request, &user, context).map_err(|error| Fail::of(error, "cannot create the streams of the process"))?;
    let limits = Limits::new(request.timeout_ms, request.idle_timeout_ms);
    let pid = spawn(&Plan {
        candidates: &strings.candidates,
        argv: &strings.argv,
        env: &strings.env,
        cwd: &strings.cwd,
        workspace: &context.workspace,
        standard: ends.standard,
        terminal: request.size.is_some(),
        user,
        cpus: context.cpus.take(),
        open_files: context.open_files,
    })
    .map_err(fail_of)?;
    let process = watch(channel, pid, request, ends, limits, context)
        .map_err(|error| Fail::of(error, "cannot watch the process"))?;
    context.pids.insert(pid, channel);
    context.out.frames.begin(channel, kind::STARTED).u32(pid as u32).end();
    Ok(Some(Box::new(process)))
}

fn watch(
    channel: u32,
    pid: i32,
    request: &Exec,
    ends: Ends,
    limits: Limits,
    context: &Context,
) -> vivarium_sys::Result<Process> {
    let outbound = |stream| match request.kept {
        Some(_) => Outbound::kept(stream, request.credit),
        None => Outbound::new(stream, request.credit, request.output_limit),
    };
    for (source, fd) in ends.outputs.iter().enumerate() {
        if let Some(fd) = fd {
            let interest = if request.size.is_some() { libc::EPOLLIN | libc::EPOLLOUT } else { libc::EPOLLIN };
            context.poll.add(fd, token(channel, source as u8 + 1), interest)?;
        }
    }
    if let Some(fd) = &ends.input {
        context.poll.add(fd, token(channel, 0), libc::EPOLLOUT)?;
    }
    drop(ends.child_ends);
    let [out, err] = ends.outputs;
    let outputs = [(out, outbound(1)), (err, outbound(2))];
    let mode = Mode { terminal: request.size.is_some(), kept: request.kept.map(Box::from) };
    Ok(Process::new(pid, mode, ends.input, outputs, limits))
}

fn ends(request: &Exec, user: &User, context: &Context) -> vivarium_sys::Result<Ends> {
    if let Some(size) = request.size {
        let (master, peer) = pty::open(user, size)?;
        let standard = [peer.raw(); 3];
        return Ok(Ends { input: None, outputs: [Some(master), None], child_ends: Vec::from([peer]), standard });
    }
    let (out, out_child) = pipe()?;
    let (err, err_child) = pipe()?;
    set_nonblocking(&out)?;
    set_nonblocking(&err)?;
    let mut standard = [context.null.raw(), out_child.raw(), err_child.raw()];
    let mut child_ends = Vec::from([out_child, err_child]);
    let mut input = None;
    if request.with_input {
        let (in_child, ours) = pipe()?;
        set_nonblocking(&ours)?;
        standard[0] = in_child.raw();
        child_ends.push(in_child);
        input = Some(ours);
    }
    Ok(Ends { input, outputs: [Some(out), Some(err)], child_ends, standard })
}

fn fail_of(error: SpawnError) -> Fail {
    match error {
        SpawnError::Clone(vivarium_sys::Errno(libc::EAGAIN)) => {
            Fail { errno: libc::EAGAIN, ..Fail::new(Code::ProcessLimit, "the maximum number of processes is reached") }
        }
        SpawnError::Clone(error) => Fail::of(error, "cannot start a process"),
        SpawnError::Prepare(error) => Fail::of(error, "cannot prepare the process"),
        SpawnError::Directory(error) => {
            Fail { code: Code::Invalid, ..Fail::of(error, "cannot use the working directory") }
        }
        SpawnError::Execute(error) => Fail::of(error, "cannot execute the program"),
    }
}

/// C strings of the request.
struct Strings {
    candidates: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
}

impl Strings {
    fn of(request: &Exec) -> Result<Strings, Fail> {
        let own =
            |bytes: &[u8]| CString::new(bytes).map_err(|_| Fail::new(Code::Invalid, "a string contains a zero byte"));
        let program = request.argv.first().filter(|program| !program.is_empty());
        let program = *program.ok_or(Fail::new(Code::Invalid, "the command has no program"))?;
        Ok(Strings {
            candidates: candidates(program, &request.env).iter().map(|path| own(path)).collect::<Result<_, _>>()?,
            argv: request.argv.iter().map(|argument| own(argument)).collect::<Result<_, _>>()?,
            env: request.env.iter().map(|variable| own(variable)).collect::<Result<_, _>>()?,
            cwd: own(request.cwd)?,
        })
    }
}

/// Paths to try for a program: the path itself, or the name in each directory of `PATH`.
fn candidates(program: &[u8], env: &[&[u8]]) -> Vec<Vec<u8>> {
    if program.contains(&b'/') {
        return Vec::from([program.to_vec()]);
    }
    let path = env.iter().find_map(|variable| variable.strip_prefix(b"PATH=")).unwrap_or(DEFAULT_PATH);
    path.split(|byte| *byte == b':')
        .map(|directory| match directory {
            b"" => program.to_vec(),
            directory => [directory, program].join(&b'/'),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aNameIsSearchedInThePathOfTheEnvironment() {
        let found = candidates(b"ls", &[b"A=b", b"PATH=/bin::/usr/bin"]);
        assert_eq!(found, [&b"/bin/ls"[..], b"ls", b"/usr/bin/ls"]);
    }

    #[test]
    fn aProgramWithASlashIsNotSearched() {
        assert_eq!(candidates(b"./ls", &[b"PATH=/bin"]), [b"./ls"]);
    }
}
