//! Benchmark of the wire protocol (`cargo bench`), with a bare spawn as the reference.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::{Host, Run, kind, service};

const ROUNDS: usize = 1000;
const BULK: u64 = 1 << 30;

fn main() {
    let mut host = Host::start();
    let (bare, exec) = spawns(&mut host);
    report("bare spawn of /bin/true", bare);
    report("exec of /bin/true", exec);
    report("ping", pings(&mut host));
    report("read of a 4 KB file", reads(&mut host));
    report("write of a 4 KB file", writes(&mut host));
    println!("{:24} {:8.0} MB/s", "stdout", bulk(&mut host));
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!("{name:24} min {:8.1}  p50 {:8.1}  p99 {:8.1} µs", at(0.0), at(0.5), at(0.99));
}

fn timed(mut action: impl FnMut()) -> Duration {
    let start = Instant::now();
    action();
    start.elapsed()
}

/// Interleaves both measurements, so that they run under the same load.
fn spawns(host: &mut Host) -> (Vec<Duration>, Vec<Duration>) {
    let command = Run::of(&["/bin/true"]);
    let mut bare = Vec::new();
    let mut exec = Vec::new();
    for _ in 0..ROUNDS {
        bare.push(timed(spawn));
        exec.push(timed(|| {
            host.exec(1, &command);
            host.finish(1);
        }));
    }
    (bare, exec)
}

/// Spawns with `posix_spawn`, the fastest way of a C library.
fn spawn() {
    let (mut pid, mut status) = (0, 0);
    let path = c"/bin/true".as_ptr();
    let (argv, env) = ([path.cast_mut(), std::ptr::null_mut()], [std::ptr::null_mut()]);
    // SAFETY: both lists end with null; the child is waited for.
    unsafe {
        let null = std::ptr::null();
        assert_eq!(libc::posix_spawn(&raw mut pid, path, null, null.cast(), argv.as_ptr(), env.as_ptr()), 0);
        libc::waitpid(pid, &raw mut status, 0);
    }
    assert_eq!(status, 0);
}

fn pings(host: &mut Host) -> Vec<Duration> {
    (0..ROUNDS).map(|_| timed(|| host.ping())).collect()
}

fn reads(host: &mut Host) -> Vec<Duration> {
    std::fs::write(host.path("small"), [7; 4096]).unwrap();
    let read = |host: &mut Host| {
        host.open(1, service::READ, |f| f.u32(65_536).string(b"small").u64(0).u64(u64::MAX));
        host.finish(1);
    };
    (0..ROUNDS).map(|_| timed(|| read(host))).collect()
}

fn writes(host: &mut Host) -> Vec<Duration> {
    let write = |host: &mut Host| {
        host.open(1, service::WRITE, |f| f.string(b"out").u32(0o644).u8(0).u64(0).u64(0).u64(0));
        host.data(1, &[7; 4096]);
        host.eof(1);
        host.finish(1);
    };
    (0..ROUNDS).map(|_| timed(|| write(host))).collect()
}

fn bulk(host: &mut Host) -> f64 {
    host.exec(1, &Run { credit: 4 << 20, ..Run::of(&["head", "-c", &BULK.to_string(), "/dev/zero"]) });
    let start = Instant::now();
    let (mut got, mut owed) = (0, 0);
    loop {
        let frame = host.frame();
        match frame.kind {
            kind::DATA => {
                let count = frame.payload.len() as u32 - 1;
                (got, owed) = (got + u64::from(count), owed + count);
                if owed >= 1 << 20 {
                    host.credit(1, 1, owed);
                    owed = 0;
                }
            }
            kind::END => break,
            _ => {}
        }
    }
    assert_eq!(got, BULK);
    got as f64 / 1e6 / start.elapsed().as_secs_f64()
}
