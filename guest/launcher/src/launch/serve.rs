//! The resident launcher: one program that starts sandboxes when it is told to, so that none of them waits for a
//! program to be loaded. It ends when the server does.
//!
//! A request on standard input is a length (four bytes, little-endian) and as many bytes: strings that each end with
//! a zero byte. They are the request's number, the file for last words, the secret, and then the launcher's usual
//! arguments. The answer on standard output is one line: the number, and what went wrong if anything did. Answers
//! come in any order: each request has a process of its own. One that dies before it has answered is answered for.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::CStr;

use super::options::Options;
use super::{Step, disk, failed, start};
use vivarium_sys::{Fd, event, file, process};

/// A request that is being obeyed. Its process is ours to reap, so the number stays its own until then.
struct Child {
    pid: i32,
    pidfd: Fd,
    number: Vec<u8>,
}

/// Far more than any request has.
const LONGEST: usize = 1 << 20;
/// How long nothing must be asked for before a spare disk is made.
const IDLE_MS: u32 = 20;
/// A line that is written whole, whatever others write at the time.
const LONGEST_ANSWER: usize = 4096;

/// Serves requests until standard input ends.
pub fn serve() -> ! {
    process::set_umask(super::UMASK);
    let (requests, answers) = (Fd::owned(0), Fd::owned(1));
    let (mut template, mut children) = (None, Vec::new());
    loop {
        match wait(&requests, &children, template.is_some()) {
            None => {
                // For the next sandbox; if it cannot be made, that one makes its own.
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

/// Waits for a request, or for the end of a child; gives nothing after a rest, if that is to be noticed.
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

/// Reports whether a child has ended; if it was killed, nobody else says so.
fn reap(child: &Child, answers: &Fd) -> bool {
    let Some(status) = process::status_of(child.pid) else { return false };
    if libc::WIFSIGNALED(status) {
        let failure = format!("the launch was killed (signal {}), out of memory?", libc::WTERMSIG(status));
        answer(answers, &child.number, &failure);
    }
    true
}

/// What the disk of a request is made from.
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

/// The life of the process that a request has for itself.
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
