//! Resident launcher: starts sandboxes on request, so that no start waits for a program to load. It exits with the
//! server.
//!
//! A request on standard input is a length (four bytes, little-endian) and that many bytes: strings that each end with
//! a zero byte. They are the request number, the log file, the secret, and the arguments of `launch`. The reply on
//! standard output is one line: the number and the error message, if any. Each request has its own process, so replies
//! arrive in any order. If a process is killed, the launcher replies for it.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::CStr;

use super::options::Options;
use super::{Step, disk, failed, start};
use vivarium_sys::{Fd, event, file, process};

/// Process of a request. The launcher reaps it, so its process id stays valid until then.
struct Child {
    pid: i32,
    pidfd: Fd,
    number: Vec<u8>,
}

/// Largest request in bytes.
const LONGEST: usize = 1 << 20;
/// Idle time after which the launcher prepares a spare disk.
const IDLE_MS: u32 = 20;
/// Longest reply. Writes of this size to a pipe are atomic.
const LONGEST_ANSWER: usize = 4096;

/// Serves requests until standard input ends.
pub fn serve() -> ! {
    process::set_umask(super::UMASK);
    let (requests, answers) = (Fd::owned(0), Fd::owned(1));
    let (mut template, mut children) = (None, Vec::new());
    loop {
        match wait(&requests, &children, template.is_some()) {
            None => {
                // For the next sandbox, which creates its own disk if this fails.
                let _ = template.take().map(|template: CString| disk::keep_spare(&template));
            }
            Some(false) => children.retain(|child| !reap(child, &answers)),
            Some(true) => {
                let Some(request) = read(&requests) else { process::exit(0) };
                template = template_of(&request).or(template);
                children.extend(fork_for(&request, &answers));
            }
        }
    }
}

/// Waits for a request (true) or the exit of a child (false). Returns none after the idle time, if `idle` is set.
fn wait(requests: &Fd, children: &[Child], idle: bool) -> Option<bool> {
    let awaited: Vec<&Fd> = core::iter::once(requests).chain(children.iter().map(|child| &child.pidfd)).collect();
    event::first_readable(&awaited, idle.then_some(IDLE_MS))
}

fn fork_for(request: &[u8], answers: &Fd) -> Option<Child> {
    let number = number_of(request);
    match process::fork_into(0, None) {
        Ok(0) => run_request(request, answers),
        Ok(pid) => process::pidfd(pid).ok().map(|pidfd| Child { pid, pidfd, number: number.to_vec() }),
        Err(error) => {
            answer(answers, number, &failed("fork", error));
            None
        }
    }
}

/// Reports whether a child has exited. Sends the reply of a killed child.
fn reap(child: &Child, answers: &Fd) -> bool {
    let Some(status) = process::status_of(child.pid) else { return false };
    if libc::WIFSIGNALED(status) {
        let failure = format!("the launch was killed (signal {}), out of memory?", libc::WTERMSIG(status));
        answer(answers, &child.number, &failure);
    }
    true
}

/// Disk template of a request.
fn template_of(request: &[u8]) -> Option<CString> {
    let mut words = request.split(|b| *b == 0).skip_while(|word| *word != b"--disk-image");
    CString::new(words.nth(2)?).ok()
}

fn read(from: &Fd) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    fill(from, &mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    let mut request = vec![0; Some(length).filter(|length| *length <= LONGEST)?];
    fill(from, &mut request)?;
    Some(request)
}

fn fill(from: &Fd, mut into: &mut [u8]) -> Option<()> {
    while !into.is_empty() {
        let length = from.read(into).ok().filter(|length| *length > 0)?;
        into = &mut into[length..];
    }
    Some(())
}

/// Main function of the process of a request.
fn run_request(request: &[u8], answers: &Fd) -> ! {
    process::default_signals();
    let words: Vec<&CStr> =
        request.split_inclusive(|b| *b == 0).filter_map(|word| CStr::from_bytes_with_nul(word).ok()).collect();
    let failure = run_launch(&words).err().unwrap_or_default();
    answer(answers, number_of(request), &failure);
    process::exit(i32::from(!failure.is_empty()))
}

fn run_launch(words: &[&CStr]) -> Step<()> {
    let [_, log, secret, arguments @ ..] = words else { return Err(String::from("the request is not whole")) };
    // The guest inherits it.
    let log = file::create(log, libc::O_APPEND).map_err(|e| failed("open the log", e))?;
    process::duplicate_to(log.raw(), 2).map_err(|e| failed("open the log", e))?;
    let options = Options::parse(arguments)?;
    let entry = options.entry.as_ref().ok_or("--start is missing")?;
    start(&options, entry, secret.to_bytes())
}

fn number_of(request: &[u8]) -> &[u8] {
    request.split(|b| *b == 0).next().unwrap_or_default()
}

fn answer(answers: &Fd, number: &[u8], failure: &str) {
    let mut line = [number, b" ", failure.as_bytes()].concat();
    line.iter_mut().filter(|byte| byte.is_ascii_control()).for_each(|byte| *byte = b' ');
    line.truncate(LONGEST_ANSWER - 1);
    line.push(b'\n');
    let _ = answers.write(&line);
}
