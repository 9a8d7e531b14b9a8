//! Linker options of the program, which has its own entry point (`vivarium_sys::program!`). Tests use the usual one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in ["-nostartfiles", "-nostdlib", "-static"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
