//! The program inside every sandbox. `lib.rs` says what it is; this file only chooses what to do.

#![no_std]
#![no_main]

extern crate alloc;

mod runtime;

use runtime::{Environment, print};
use vivarium_guest::options::{USAGE, Usage};
use vivarium_guest::{init, launch, orphans};

const VERSION: &str = concat!("vivarium-guest ", env!("CARGO_PKG_VERSION"), "\n");

/// Gives the exit status.
fn main(arguments: &[&[u8]], mut environment: Environment) -> i32 {
    let outcome = match arguments {
        [b"--version"] => {
            print(1, VERSION);
            return 0;
        }
        [b"init", rest @ ..] => init::init(rest, environment.take_secret(b"VIV_SECRET=")),
        [b"launch", rest @ ..] => launch::launch(rest),
        [b"launcher"] => launch::serve(),
        [b"orphan-watcher", rest @ ..] => orphans::watch(rest),
        _ => Err(Usage("no such command")),
    };
    let Err(Usage(problem)) = outcome;
    print(2, "vivarium-guest: ");
    print(2, problem);
    print(2, "\n");
    print(2, USAGE);
    64
}
