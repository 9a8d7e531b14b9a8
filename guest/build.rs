//! The binary brings its own entry point (`runtime.rs`); tests and the library use the usual one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in ["-nostartfiles", "-nostdlib", "-static"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
