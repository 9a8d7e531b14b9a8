//! `launch`: prepares the mounts of a sandbox and executes the runtime.

use crate::options::Usage;

pub fn launch(_arguments: &[&[u8]]) -> Result<core::convert::Infallible, Usage> {
    Err(Usage("launch is not built into this guest"))
}
