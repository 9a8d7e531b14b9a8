//! Directory entries.

use core::ffi::CStr;

/// One entry of a directory, as the kernel lists it.
pub struct Entry<'a> {
    pub name: &'a CStr,
    /// Where to go on after this entry.
    pub next: i64,
}

/// Takes a buffer of `getdents64` apart.
pub fn entries(mut buffer: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    core::iter::from_fn(move || {
        let next = i64::from_ne_bytes(*buffer.get(8..)?.first_chunk()?);
        let length = u16::from_ne_bytes(*buffer.get(16..)?.first_chunk()?);
        let name = CStr::from_bytes_until_nul(buffer.get(19..length.into())?).ok()?;
        buffer = &buffer[length.into()..];
        Some(Entry { name, next })
    })
}
