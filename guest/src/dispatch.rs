//! Dispatch of frames from the host.

use crate::context::Opened;
use crate::fail::{Code, Fail};
use crate::guest::Guest;
use crate::request::Request;
use crate::wire::{Fields, Frame, GENERATION, MAX_CHANNELS, MAX_DATA, Violation, kind};
use crate::{dial, exec, files, hash, list, listen, remove, stats, watch, write};

/// Checks the first frame of a connection, which must be WELCOME. Any other frame, such as REFUSE, ends the connection.
pub fn welcome(frame: &Frame) -> Result<(), Violation> {
    let fits = frame.kind == kind::WELCOME && frame.channel == 0;
    match Fields(frame.payload).u16()? {
        generation if fits && (1..=GENERATION).contains(&generation) => Ok(()),
        _ => Err(Violation),
    }
}

/// Handles a frame. An error ends the connection.
pub fn frame(guest: &mut Guest, frame: &Frame) -> Result<(), Violation> {
    match frame.channel {
        0 => of_connection(guest, frame),
        // Only the guest opens channels with these numbers.
        number if number & listen::GUEST_CHANNEL != 0 && frame.kind == kind::OPEN => Err(Violation),
        _ if frame.kind == kind::OPEN => open(guest, frame),
        _ => of_channel(guest, frame),
    }
}

fn of_connection(guest: &mut Guest, frame: &Frame) -> Result<(), Violation> {
    match frame.kind {
        kind::PING => {
            let token = Fields(frame.payload).u64()?;
            guest.context.out.urgent.begin(0, kind::PONG).u64(token).end();
            Ok(())
        }
        kind::SHUTDOWN => guest.shut_down(),
        kind::HELLO | kind::WELCOME | kind::REFUSE | kind::PONG => Err(Violation),
        kind::OPEN..=kind::ATTACH | kind::ARRIVED | kind::FAIL | kind::END => Err(Violation),
        // A newer host may send unknown kinds. Those on channel 0 are ignored.
        _ => Ok(()),
    }
}

fn open(guest: &mut Guest, frame: &Frame) -> Result<(), Violation> {
    let number = frame.channel;
    if guest.channels.contains_key(&number) {
        return Err(Violation);
    }
    let opened = if guest.channels.len() >= MAX_CHANNELS {
        let limit = MAX_CHANNELS as u64;
        Err(Fail::beyond(Code::Busy, limit, limit, "too many channels are open"))
    } else {
        match Request::decode(frame.payload)? {
            Some(request) => begin(guest, number, &request),
            None => Err(Fail::new(Code::Unsupported, "the guest does not have this service")),
        }
    };
    match opened {
        Ok(Some(service)) => guest.insert(number, service),
        Ok(None) => {}
        Err(fail) => fail.send(number, &mut guest.context.out.frames),
    }
    Ok(())
}

fn begin(guest: &mut Guest, number: u32, request: &Request) -> Opened {
    let context = &mut guest.context;
    match *request {
        Request::Exec(ref command) => exec::open(number, command, context),
        Request::Read { credit, path, offset, length } => files::read(number, credit, path, (offset, length), context),
        Request::Write(ref file) => write::open(file, context),
        Request::Stat { path, follow } => files::stat(number, path, follow, context),
        Request::List { credit, path, recursive, max_entries } => {
            list::open(credit, path, recursive, max_entries, context)
        }
        Request::Mkdir { path, mode, parents } => files::mkdir(number, path, mode, parents, context),
        Request::Move { from, to, replace } => files::rename(number, from, to, replace, context),
        Request::Remove { path, recursive } => remove::open(number, path, recursive, context),
        Request::Watch { credit, path, recursive } => watch::open(number, credit, path, recursive, context),
        Request::Dial { credit, family, port, path } => dial::open(number, credit, (family, port, path), context),
        Request::Stats => stats::send(number, context),
        Request::Setup { cpus, orphan_grace } => stats::setup(number, cpus, orphan_grace, context),
        Request::Hash { path } => hash::open(path, context),
        Request::Listen { credit, port, most } => listen::open(number, credit, (port, most), context),
    }
}

fn of_channel(guest: &mut Guest, frame: &Frame) -> Result<(), Violation> {
    let mut f = Fields(frame.payload);
    let number = frame.channel;
    // Parses before the channel lookup: a malformed frame is a violation on any channel.
    match frame.kind {
        kind::DATA => {
            let (stream, bytes) = (f.u8()?, f.rest());
            if bytes.is_empty() || bytes.len() > MAX_DATA {
                return Err(Violation);
            }
            if let Some(channel) = guest.channels.get_mut(&number) {
                channel.service.data(stream, bytes, &mut guest.context)?;
            }
        }
        kind::CREDIT => {
            let (stream, bytes) = (f.u8()?, f.u32()?);
            with(guest, number, |channel| channel.service.credit(stream, bytes));
        }
        kind::EOF => {
            let stream = f.u8()?;
            with(guest, number, |channel| channel.service.eof(stream));
        }
        kind::SIGNAL => {
            let (signal, target) = (f.u8()?, f.u8()?);
            with(guest, number, |channel| channel.service.signal(signal, target == 1));
        }
        kind::RESIZE => {
            let (columns, rows) = (f.u16()?, f.u16()?);
            with(guest, number, |channel| channel.service.resize(columns, rows));
        }
        kind::CLOSE => {
            if let Some(channel) = guest.channels.get_mut(&number) {
                channel.service.close(&mut guest.context);
            }
        }
        kind::DETACH => detach(guest, number),
        kind::ATTACH => attach(guest, number, f.u32()?),
        kind::STARTED | kind::ARRIVED | kind::FAIL | kind::END => return Err(Violation),
        kind::HELLO..=kind::SHUTDOWN => return Err(Violation),
        _ => unknown(guest, number),
    }
    guest.enqueue(number);
    Ok(())
}

fn with(guest: &mut Guest, number: u32, action: impl FnOnce(&mut crate::guest::Channel)) {
    if let Some(channel) = guest.channels.get_mut(&number) {
        action(channel);
    }
}

fn detach(guest: &mut Guest, number: u32) {
    if let Some(channel) = guest.channels.get_mut(&number)
        && channel.service.detach(number, &mut guest.context)
    {
        guest.channels.remove(&number);
    }
}

/// Fails unless the process is kept and has no host.
fn attach(guest: &mut Guest, number: u32, credit: u32) {
    if let Some(channel) = guest.channels.get_mut(&number)
        && !channel.service.attach(number, credit, &mut guest.context)
    {
        unknown(guest, number);
    }
}

/// Fails the channel for a frame of an unknown kind. Other channels continue.
fn unknown(guest: &mut Guest, number: u32) {
    if let Some(mut channel) = guest.channels.remove(&number) {
        channel.service.close(&mut guest.context);
        let fail = Fail::new(Code::Unsupported, "the guest does not support this kind of frame");
        fail.send(number, &mut guest.context.out.frames);
        listen::channel_ended(guest, number);
    }
}
