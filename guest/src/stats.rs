//! Resource usage of the sandbox.

use crate::context::{Context, Opened};
use crate::fail::Fail;
use crate::wire::kind;
use vivarium_sys::tree;
use vivarium_sys::{file, now_us, process};

/// Microseconds in a clock tick of `/proc`, which is 1/100 s on every architecture.
const TICK_US: u64 = 10_000;
const PAGE: u64 = 4096;

pub fn send(channel: u32, context: &mut Context) -> Opened {
    // Without a PID namespace, only descendants of the guest belong to the sandbox.
    let lines = tree::descendants(process::own_pid());
    let cpu = lines.iter().map(|line| line.ticks * TICK_US).sum::<u64>() + process::reaped_cpu_us();
    let memory = lines.iter().map(|line| line.resident_pages * PAGE).sum();
    let disk = file::space(&context.workspace).map_err(|error| Fail::of(error, "cannot read the disk usage"))?;
    let out = context.out.frames.begin(channel, kind::END).u32(lines.len() as u32).u64(cpu).u64(memory);
    for value in disk {
        out.u64(value);
    }
    out.u64((now_us() - context.started_us) / 1000).end();
    Ok(None)
}

/// Handles SETUP: the number of processors for later commands, and the orphan grace.
pub fn setup(channel: u32, cpus: u32, orphan_grace: Option<u32>, context: &mut Context) -> Opened {
    context.cpus.count = cpus;
    if let Some(seconds) = orphan_grace {
        context.orphan_timer.set_grace(seconds);
    }
    crate::files::end(channel, context)
}
