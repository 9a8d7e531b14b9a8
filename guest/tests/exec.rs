//! Commands, driven over a real socket.

#![allow(non_snake_case)]

mod common;

use common::{Fields, Host, Outcome, Run, is_alive, kind, service, until};

#[test]
fn aCommandReturnsItsOutputAndStatus() {
    let mut host = Host::start();
    let outcome = host.shell("echo out; echo err >&2; exit 3");
    assert_eq!((outcome.text(1), outcome.text(2)), ("out\n".into(), "err\n".into()));
    let exit = outcome.exit();
    assert_eq!((exit.cause, exit.code, exit.out, exit.err), (0, 3, 4, 4));
    assert!(exit.wall_us > 0);
    assert_eq!(outcome.started.unwrap().len(), 4);
}

#[test]
fn theEnvironmentAndTheDirectoryAreThoseOfTheRequest() {
    let mut host = Host::start();
    std::fs::create_dir(host.path("inner")).unwrap();
    host.exec(1, &Run { cwd: "inner", ..Run::shell("pwd; env | sort") });
    let text = host.finish(1).text(1);
    assert!(text.starts_with(&format!("{}\n", host.path("inner").to_str().unwrap())), "{text}");
    assert!(text.contains("GREETING=hello\n") && !text.contains("VIV_SECRET"), "{text}");
}

#[test]
fn theSecretIsRemovedFromTheEnvironmentOfTheGuest() {
    let host = Host::start();
    let environment = std::fs::read(format!("/proc/{}/environ", host.guest.id())).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains(common::SECRET));
}

#[test]
fn aCommandThatCannotStartFailsWithTheReason() {
    let mut host = Host::start();
    std::fs::write(host.path("plain"), "no program").unwrap();
    let plain = host.path("plain");
    let cases: [(Run, u16); 5] = [
        (Run::of(&["no-such-program"]), 2),
        (Run::of(&["/no/such/program"]), 2),
        (Run::of(&[plain.to_str().unwrap()]), 3),
        (Run::of(&[]), 1),
        (Run { cwd: "missing", ..Run::of(&["true"]) }, 1),
    ];
    for (command, code) in cases {
        host.exec(1, &command);
        assert_eq!(host.finish(1).code(), code, "{:?}", command.argv);
    }
}

#[test]
fn inputIsReadToItsEnd() {
    let mut host = Host::start();
    host.exec(1, &Run { with_input: true, ..Run::of(&["cat"]) });
    host.data(1, b"first ");
    host.data(1, b"second");
    host.eof(1);
    let outcome = host.finish(1);
    assert_eq!((outcome.text(1).as_str(), outcome.exit().code), ("first second", 0));
}

#[test]
fn unreadInputWaitsAndItsCreditIsReturnedWhenRead() {
    let mut host = Host::start();
    host.exec(1, &Run { with_input: true, ..Run::shell("read line; cat | wc -c") });
    for _ in 0..4 {
        host.data(1, &[b'x'; 65_536]);
    }
    host.data(2, b"\n"); // a channel that does not exist
    host.ping();
    host.send(1, kind::CLOSE, |f| f);
    assert_eq!(host.finish(1).exit().cause, 4);
}

#[test]
fn aMegabyteOfInputPassesWithReturnedCredit() {
    let mut host = Host::start();
    host.exec(1, &Run { with_input: true, ..Run::of(&["wc", "-c"]) });
    let (mut credit, mut sent) = (262_144usize, 0usize);
    let mut outcome = Outcome::default();
    while sent < 1 << 20 {
        while credit >= 65_536 && sent < 1 << 20 {
            host.data(1, &[7; 65_536]);
            (credit, sent) = (credit - 65_536, sent + 65_536);
        }
        let frame = host.frame();
        if frame.kind == kind::CREDIT {
            credit += Fields(&frame.payload[1..]).u32().unwrap() as usize;
        }
    }
    host.eof(1);
    while !host.step(1, &mut outcome, true) {}
    assert_eq!(outcome.text(1).trim(), "1048576");
}

#[test]
fn inputBeyondTheCreditEndsTheConnection() {
    let mut host = Host::start();
    host.exec(1, &Run { with_input: true, ..Run::of(&["sleep", "1000"]) });
    let mut frame = vec![0, 1, 0, 1, 0, 0, 0, 1, kind::DATA, 0];
    frame.resize(frame.len() + 65_536, 7);
    for _ in 0..8 {
        // The guest may have closed the connection before the last frame.
        let _ = std::io::Write::write_all(&mut host.stream, &frame);
    }
    assert!(host.is_closed());
    host.accept_again();
    host.ping();
}

#[test]
fn aSignalReachesTheProcess() {
    let mut host = Host::start();
    host.exec(1, &Run::shell("trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "ready");
    host.send(1, kind::SIGNAL, |f| f.u8(15).u8(0));
    while !host.step(1, &mut outcome, true) {}
    assert_eq!((outcome.text(1).as_str(), outcome.exit().code), ("ready\ncaught\n", 7));
}

#[test]
fn aSignalToTheTreeReachesDescendants() {
    let mut host = Host::start();
    host.exec(1, &Run::shell("setsid sleep 1000 & echo $!; wait"));
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "\n");
    let child: i32 = outcome.text(1).trim().parse().unwrap();
    host.send(1, kind::SIGNAL, |f| f.u8(15).u8(1));
    while !host.step(1, &mut outcome, true) {}
    assert_eq!((outcome.exit().cause, outcome.exit().code), (1, 15));
    until("the child has exited", || !is_alive(child));
}

#[test]
fn aDeathBySignalIsReported() {
    let mut host = Host::start();
    let exit = host.shell("kill -SEGV $$").exit();
    assert_eq!((exit.cause, exit.code), (1, 11));
}

/// Starts four children that try to escape, and returns their ids: in a new session, forked twice, in the background.
const FUGITIVES: &str = "sleep 1001 & echo $!; (setsid sh -c 'sleep 1002 & echo $!; exec sleep 1003' & echo $!); \
    python3 -c 'import os,time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
print(os.getpid(), flush=True); time.sleep(1004)'; sleep 1005";

fn fugitives_die(host: &mut Host, end: impl FnOnce(&mut Host), run: Run, cause: u8) {
    host.exec(1, &run);
    let mut outcome = Outcome::default();
    while outcome.text(1).matches('\n').count() < 4 {
        assert!(!host.step(1, &mut outcome, true), "not all processes started: {outcome:?}");
    }
    let pids: Vec<i32> = outcome.text(1).lines().map(|line| line.parse().unwrap()).collect();
    end(host);
    while !host.step(1, &mut outcome, true) {}
    assert_eq!((outcome.exit().cause, outcome.exit().code), (cause, 9));
    for pid in pids {
        until("all processes have exited", || !is_alive(pid));
    }
}

#[test]
fn aTimeOutKillsTheWholeTree() {
    let mut host = Host::start();
    fugitives_die(&mut host, |_| (), Run { timeout_ms: 15_000, ..Run::shell(FUGITIVES) }, 2);
}

#[test]
fn anIdleTimeoutKillsTheWholeTree() {
    let mut host = Host::start();
    fugitives_die(&mut host, |_| (), Run { idle_timeout_ms: 10_000, ..Run::shell(FUGITIVES) }, 3);
}

#[test]
fn closingKillsTheWholeTree() {
    let mut host = Host::start();
    fugitives_die(&mut host, |host| host.send(1, kind::CLOSE, |f| f), Run::shell(FUGITIVES), 4);
}

#[test]
fn aForkBombIsKilled() {
    let mut host = Host::start();
    // Each of a few hundred processes forks again and again; the limit keeps the machine usable.
    let script = "import os,time
os.setsid() if os.getpid() != os.getsid(0) else None
print('started', flush=True)
for _ in range(8):
    os.fork()
while True:
    try:
        if os.fork() == 0: time.sleep(0.02); os._exit(0)
        os.waitpid(-1, os.WNOHANG)
    except (BlockingIOError, ChildProcessError): pass
    time.sleep(0.01)";
    host.exec(1, &Run { timeout_ms: 1500, ..Run::of(&["python3", "-c", script]) });
    let outcome = host.finish(1);
    assert_eq!(outcome.exit().cause, 2);
    let guest = host.guest.id() as i32;
    until("all processes have exited", || vivarium_sys::tree::descendants(guest).is_empty());
    assert_eq!(host.shell("echo fine").text(1), "fine\n");
}

#[test]
fn outputBeyondTheLimitIsCountedAndDiscarded() {
    let mut host = Host::start();
    host.exec(1, &Run { output_limit: 1000, ..Run::shell("head -c 300000 /dev/zero; echo end >&2") });
    let outcome = host.finish(1);
    assert_eq!(outcome.streams[&1].len(), 1000);
    assert_eq!((outcome.exit().out, outcome.exit().err), (300_000, 4));
}

#[test]
fn withoutCreditTheProcessWaitsAndOthersDoNot() {
    let mut host = Host::start();
    host.exec(1, &Run { credit: 1000, ..Run::shell("head -c 3000000 /dev/zero") });
    let mut outcome = Outcome::default();
    while outcome.streams.get(&1).map_or(0, Vec::len) < 1000 {
        host.step(1, &mut outcome, false);
    }
    host.exec(2, &Run::shell("echo other"));
    assert_eq!(host.finish(2).text(1), "other\n");
    host.ping();
    host.credit(1, 1, 4_000_000);
    while !host.step(1, &mut outcome, false) {}
    assert_eq!((outcome.streams[&1].len(), outcome.exit().code), (3_000_000, 0));
}

#[test]
fn aPingIsAnsweredUnderABulkStream() {
    let mut host = Host::start();
    host.exec(1, &Run { credit: u32::MAX, ..Run::of(&["cat", "/dev/zero"]) });
    for _ in 0..50 {
        host.ping();
    }
    host.send(1, kind::CLOSE, |f| f);
    assert_eq!(host.finish(1).exit().cause, 4);
}

#[test]
fn theEndIsSentWhileABackgroundChildHoldsThePipe() {
    let mut host = Host::start();
    let outcome = host.shell("(while [ ! -e go ]; do sleep 0.01; done; while echo noise; do :; done) & echo $!");
    let child: i32 = outcome.text(1).trim().parse().unwrap();
    assert_eq!(outcome.exit().code, 0);
    assert!(is_alive(child));
    std::fs::write(host.path("go"), "").unwrap();
    host.ping();
}

#[test]
fn aBackgroundChildWithOutputContinues() {
    let mut host = Host::start();
    let outcome = host.shell("cat /dev/zero & echo $! >&2");
    let child: i32 = outcome.text(2).trim().parse().unwrap();
    // With a closed pipe, each of these writes would kill the process.
    for _ in 0..20 {
        assert_eq!(host.shell("true").exit().code, 0);
    }
    assert!(is_alive(child));
}

#[test]
fn allOutputPrecedesTheEnd() {
    let mut host = Host::start();
    for size in [1usize, 65_535, 65_536, 65_537, 1_000_000] {
        let outcome = host.shell(&format!("head -c {size} /dev/zero; printf x"));
        assert_eq!(outcome.streams[&1].len(), size + 1);
        assert_eq!(outcome.exit().out, size as u64 + 1);
    }
}

#[test]
fn bulkOutputIsCompleteAndInOrderAfterAPause() {
    let mut host = Host::start();
    let outcome = host.shell("seq 1 2000000; seq 1 9 >&2; sleep 0.05; echo again; sleep 0.05; seq 1 2000000");
    let numbers: String = (1..=2_000_000).map(|number| format!("{number}\n")).collect();
    assert!(outcome.text(1) == format!("{numbers}again\n{numbers}"));
    assert_eq!(outcome.exit().out as usize, outcome.streams[&1].len());
}

#[test]
fn bulkOutputStopsAtItsLimitToTheByte() {
    let mut host = Host::start();
    host.exec(1, &Run { output_limit: 5_000_001, ..Run::of(&["head", "-c", "9000000", "/dev/zero"]) });
    let outcome = host.finish(1);
    assert_eq!((outcome.streams[&1].len(), outcome.exit().out), (5_000_001, 9_000_000));
}

#[test]
fn aProcessThatReadsItsOwnOutputDoesNotAffectOthers() {
    let mut host = Host::start();
    let outcome = host.shell("cat </proc/self/fd/1 >/dev/null & seq 1 3000000; kill $!; wait $!; exit 5");
    let exit = outcome.exit();
    assert_eq!((exit.cause, exit.code, exit.out as usize), (0, 5, outcome.streams.get(&1).map_or(0, Vec::len)));
    assert_eq!(host.shell("echo fine").text(1), "fine\n");
}

#[test]
fn aDetachedProcessContinuesWithoutOutput() {
    let mut host = Host::start();
    host.exec(1, &Run { timeout_ms: 10_000, ..Run::shell("echo $$; while :; do echo noise; sleep 0.05; done") });
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "\n");
    let pid: i32 = outcome.text(1).lines().next().unwrap().parse().unwrap();
    host.send(1, kind::DETACH, |f| f);
    while !host.step(1, &mut outcome, true) {}
    assert_eq!((outcome.exit().cause, outcome.exit().code), (5, 0));
    // Longer than its time limit, which no longer applies.
    host.exec(2, &Run::of(&["sleep", "11"]));
    assert_eq!(host.finish(2).exit().code, 0);
    assert!(is_alive(pid));
    host.reconnect();
    assert_eq!(host.hello[host.hello.len() - 8..], [0; 8]);
}

#[test]
fn aProcessOutlivesTheConnectionAndIsListed() {
    let mut host = Host::start();
    host.exec(77, &Run::shell("echo $$; exec sleep 1000"));
    let mut outcome = Outcome::default();
    host.await_text(77, &mut outcome, "\n");
    let pid: i32 = outcome.text(1).trim().parse().unwrap();
    host.open(78, service::WATCH, |f| f.u32(65_536).string(b"").u8(1));
    host.reconnect();
    let mut f = Fields(&host.hello);
    assert_eq!(f.u32().unwrap().to_be_bytes(), *b"VIVG");
    let _ = (f.u16(), f.u64());
    assert_eq!(f.string().unwrap(), common::SECRET.as_bytes());
    let _ = f.string();
    assert_eq!((f.u32(), f.u32(), f.u8(), f.u32()), (Ok(1), Ok(77), Ok(service::EXEC), Ok(pid as u32)));
    assert!(is_alive(pid));
    host.send(77, kind::CLOSE, |f| f);
    assert_eq!(host.finish(77).exit().cause, 4);
    until("the process has exited", || !is_alive(pid));
}

#[test]
fn aProcessThatEndsWithoutAHostIsNotListed() {
    let mut host = Host::start();
    host.exec(1, &Run::shell("read line; echo never"));
    host.ping();
    host.exec(2, &Run::of(&["sleep", "0.2"]));
    host.ping();
    let guest = host.guest.id() as i32;
    host.stream.shutdown(std::net::Shutdown::Both).unwrap();
    until("all have ended", || vivarium_sys::tree::descendants(guest).is_empty());
    host.accept_again();
    // The first connection may be older than the exit of the processes. The second one is not.
    host.reconnect();
    assert_eq!(host.hello[host.hello.len() - 8..], [0; 8]);
}

#[test]
fn aCommandInheritsOnlyItsStreams() {
    let mut host = Host::start();
    assert_eq!(host.shell("ls /proc/self/fd | tr '\\n' ' '").text(1), "0 1 2 3 ");
}

#[test]
fn commandsSeeOnlyTheProcessorsOfTheSetup() {
    let mut host = Host::start();
    host.open(1, service::SETUP, |f| f.u32(1));
    host.finish(1);
    assert_eq!(host.shell("nproc").text(1).trim(), "1");
}

#[test]
fn theGuestKillsItsProcessesOnExit() {
    let mut host = Host::start();
    host.exec(1, &Run::shell("setsid sleep 1000 & echo $!; exec sleep 1000"));
    let mut outcome = Outcome::default();
    host.await_text(1, &mut outcome, "\n");
    let child: i32 = outcome.text(1).trim().parse().unwrap();
    host.send(0, kind::SHUTDOWN, |f| f);
    assert!(host.guest.wait().unwrap().success());
    until("the child has exited", || !is_alive(child));
}

#[test]
fn manyCommandsAtOnceAllEnd() {
    let mut host = Host::start();
    for channel in 1..=100 {
        host.exec(channel, &Run::shell(&format!("echo {channel}")));
    }
    let mut texts = std::collections::BTreeMap::<u32, String>::new();
    let mut ended = 0;
    while ended < 100 {
        let frame = host.frame();
        match frame.kind {
            kind::DATA => {
                texts.entry(frame.channel).or_default().push_str(std::str::from_utf8(&frame.payload[1..]).unwrap())
            }
            kind::END => ended += 1,
            _ => {}
        }
    }
    assert!((1..=100).all(|channel| texts[&channel] == format!("{channel}\n")));
}
