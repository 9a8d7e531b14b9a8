//! The guest reads and writes the golden frames byte for byte.

#![allow(non_snake_case)]

#[path = "common/golden.rs"]
mod golden;

use golden::Golden;
use vivarium_guest::fail::{Code, Fail};
use vivarium_guest::files::put_version;
use vivarium_guest::listen;
use vivarium_guest::request::{Exec, Request, Write};
use vivarium_guest::wire::{Fields, FrameReader, Frames, kind};
use vivarium_sys::file::Stat;

#[test]
fn everyGoldenTextMatchesItsBytes() {
    for golden in golden::all() {
        if std::env::var_os("VIV_GOLDEN").is_some_and(|value| value == "write") && !golden.bin.exists() {
            std::fs::write(&golden.bin, golden.bytes()).unwrap();
        }
        assert_eq!(golden.read(), golden.bytes(), "{}", golden.name);
    }
}

#[test]
fn theReaderDecodesEveryFrameOfAStream() {
    let all = golden::all();
    let stream: Vec<u8> = all.iter().flat_map(|golden| golden.read()).collect();
    for step in [1, 7, 64, 100_000] {
        let mut reader = FrameReader::default();
        let mut found = 0;
        for piece in stream.chunks(step) {
            let fill = |into: &mut [u8]| -> Result<usize, ()> {
                into[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            };
            reader.fill(fill).unwrap();
            while let Some(frame) = reader.next_frame().unwrap() {
                assert_eq!((frame.channel, frame.kind), (all[found].channel, all[found].kind));
                found += 1;
            }
        }
        assert_eq!(found, all.len());
    }
}

#[test]
fn everyGoldenRequestIsDecoded() {
    let opens: Vec<Golden> = golden::all().into_iter().filter(|golden| golden.kind == kind::OPEN).collect();
    assert!(opens.len() > 15);
    for golden in opens {
        let bytes = golden.read();
        let request = Request::decode(&bytes[9..]).unwrap();
        if golden.name == "open-unknown" {
            assert_eq!(request, None);
        } else {
            check(&golden, &request.unwrap());
        }
    }
}

fn check(g: &Golden, request: &Request) {
    match request {
        Request::Exec(command) => check_exec(g, command),
        Request::Read { credit, path, offset, length } => {
            assert_eq!((*credit, *offset, *length), (g.number("credit"), g.number("offset"), g.number("length")));
            assert_eq!(*path, g.string("path"));
        }
        Request::Write(write) => check_write(g, write),
        Request::Stat { path, follow } => {
            assert_eq!((path.to_vec(), *follow), (g.string("path"), g.number::<u8>("follow") == 1));
        }
        Request::List { credit, path, recursive, max_entries } => {
            assert_eq!(
                (*credit, path.to_vec(), *max_entries),
                (g.number("credit"), g.string("path"), g.number("max_entries"))
            );
            assert_eq!(*recursive, g.number::<u8>("recursive") == 1);
        }
        Request::Mkdir { path, mode, parents } => {
            assert_eq!((path.to_vec(), *mode), (g.string("path"), g.number("mode")));
            assert_eq!(*parents, g.number::<u8>("parents") == 1);
        }
        Request::Move { from, to, replace } => {
            assert_eq!((from.to_vec(), to.to_vec()), (g.string("from"), g.string("to")));
            assert_eq!(*replace, g.number::<u8>("replace") == 1);
        }
        Request::Remove { path, recursive } => {
            assert_eq!((path.to_vec(), *recursive), (g.string("path"), g.number::<u8>("recursive") == 1));
        }
        Request::Watch { credit, path, recursive } => {
            assert_eq!((*credit, path.to_vec()), (g.number("credit"), g.string("path")));
            assert_eq!(*recursive, g.number::<u8>("recursive") == 1);
        }
        Request::Dial { credit, family, port, path } => {
            assert_eq!((*credit, *family, *port), (g.number("credit"), g.number("family"), g.number("port")));
            assert_eq!(*path, g.string("path"));
        }
        Request::Stats => assert_eq!(g.fields.len(), 1),
        Request::Setup { cpus, orphan_grace } => {
            let grace = g.fields.iter().any(|field| field.name == "orphan_grace").then(|| g.number("orphan_grace"));
            assert_eq!((*cpus, *orphan_grace), (g.number("cpus"), grace));
        }
        Request::Hash { path } => assert_eq!(*path, g.string("path")),
        Request::Listen { credit, port, most } => {
            assert_eq!((*credit, *port, *most), (g.number("credit"), g.number("port"), g.number("most")));
        }
    }
}

fn check_exec(g: &Golden, command: &Exec) {
    let terminal = g.number::<u8>("service") == 2;
    assert_eq!(command.credit, g.number("credit"));
    assert_eq!(command.with_input, g.number::<u8>("flags") & 1 == 1);
    assert_eq!((command.uid, command.gid), (g.number("uid"), g.number("gid")));
    assert_eq!(command.timeout_ms, g.number("timeout"));
    assert_eq!(command.idle_timeout_ms, g.number("idle_timeout"));
    assert_eq!(command.output_limit, g.number("output_limit"));
    assert_eq!(command.cwd, g.string("cwd"));
    assert_eq!(command.argv, g.strings("argv"));
    assert_eq!(command.env, g.strings("env"));
    assert_eq!(command.kept, (g.number::<u8>("flags") & 2 == 2).then(|| g.string("name")).as_deref());
    assert_eq!(command.size, terminal.then(|| (g.number("columns"), g.number("rows"))));
}

fn check_write(g: &Golden, write: &Write) {
    let flags: u8 = g.number("flags");
    assert_eq!((write.path.to_vec(), write.mode), (g.string("path"), g.number("mode")));
    assert_eq!((write.make_parents, write.fail_if_exists), (flags & 1 != 0, flags & 2 != 0));
    assert_eq!(write.max_size, g.number("max_size"));
    assert_eq!((write.max_files, write.max_total), (g.number("max_files"), g.number("max_total")));
}

const STAT: Stat = Stat {
    mode: libc::S_IFREG | 0o644,
    size: 5_000_000_000,
    mtime_ns: 1_767_225_600_123_456_789,
    ctime_ns: 1_767_225_600_223_456_789,
    uid: 1000,
    device: 1,
    inode: 4711,
};

#[test]
fn framesOfTheGuestHaveTheGoldenBytes() {
    let named = |name: &str| golden::all().into_iter().find(|golden| golden.name == name).unwrap().read();
    let mut out = Frames::default();
    out.begin(0, kind::PONG).u64(u64::MAX).end();
    assert_eq!(out.buffer, named("pong"));

    let mut out = Frames::default();
    Fail::beyond(Code::TooLarge, 104_857_601, 104_857_600, "the file is larger than allowed").send(12, &mut out);
    assert_eq!(out.buffer, named("fail"));

    let mut out = Frames::default();
    Fail::of(vivarium_sys::Errno(2), "cannot execute the program").send(7, &mut out);
    assert_eq!(out.buffer, named("fail-errno"));

    let mut out = Frames::default();
    vivarium_guest::connection::hello(&mut out, b"0123456789abcdef", &Default::default());
    assert_eq!(out.buffer, named("hello-keeping"));

    let mut out = Frames::default();
    put_version(out.begin(11, kind::STARTED), &STAT);
    out.end();
    assert_eq!(out.buffer, named("started-read-version"));

    let mut out = Frames::default();
    put_version(out.begin(11, kind::END).u64(STAT.size), &STAT);
    out.end();
    assert_eq!(out.buffer, named("end-read-version"));

    let mut out = Frames::default();
    out.begin(9, kind::STARTED).u16(3128).end();
    assert_eq!(out.buffer, named("started-listen"));

    let mut out = Frames::default();
    out.begin(listen::GUEST_CHANNEL | 1, kind::ARRIVED).u32(9).end();
    assert_eq!(out.buffer, named("arrived"));
}

#[test]
fn aPayloadThatEndsInsideAFieldIsRefusedAtEveryLength() {
    for golden in golden::all().into_iter().filter(|g| g.kind == kind::OPEN && !g.name.ends_with("-appended")) {
        let bytes = golden.read();
        let payload = &bytes[9..];
        if Request::decode(payload).unwrap().is_none() {
            continue;
        }
        // Without the field that was appended later, it is the whole request of an older host.
        let older = golden::all().iter().find(|g| g.name == "open-setup").unwrap().read();
        for length in (0..payload.len()).filter(|length| payload[..*length] != older[9..]) {
            assert!(Request::decode(&payload[..length]).is_err(), "{} cut to {length}", golden.name);
        }
    }
    assert!(Fields(&[0, 0, 0]).u32().is_err());
}
