//! `vivarium-launcher`: starts sandboxes on the host, reports their processes and removes orphaned ones.

#![no_std]
#![no_main]

use vivarium_launcher::{launch, report_processes, serve, watch_orphans};
use vivarium_sys::Usage;
use vivarium_sys::runtime::Program;

vivarium_sys::program!(Program {
    name: "vivarium-launcher",
    version: env!("CARGO_PKG_VERSION"),
    usage: "usage: vivarium-launcher launch …
       vivarium-launcher serve
       vivarium-launcher orphan-watcher …
       vivarium-launcher process-reporter
       vivarium-launcher --version
",
    run: |arguments, _| match arguments {
        [b"launch", rest @ ..] => launch(rest),
        [b"serve"] => serve(),
        [b"orphan-watcher", rest @ ..] => watch_orphans(rest),
        [b"process-reporter"] => report_processes(),
        _ => Err(Usage("unknown command")),
    },
});
