//! `vivarium-guest`: the init process of a sandbox.

#![no_std]
#![no_main]

use vivarium_guest::{USAGE, init};
use vivarium_sys::Usage;
use vivarium_sys::runtime::Program;

vivarium_sys::program!(Program {
    name: "vivarium-guest",
    version: env!("CARGO_PKG_VERSION"),
    usage: USAGE,
    run: |arguments, mut environment| match arguments {
        [b"init", rest @ ..] => init(rest, environment.take_secret(b"VIV_SECRET=")),
        _ => Err(Usage("unknown command")),
    },
});
