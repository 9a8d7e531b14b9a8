//! Fuzzing of all parsers with random and mutated bytes: no panic, and no allocation by a claimed length.

#![allow(non_snake_case)]

#[path = "common/golden.rs"]
#[allow(dead_code)]
mod golden;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use vivarium_guest::dispatch::welcome;
use vivarium_guest::request::Request;
use vivarium_guest::wire::{FrameReader, HEADER, MAX_DATA, MAX_PAYLOAD};
use vivarium_sys::walk::entries;

/// Allocator that records the largest allocation.
struct Watched;

std::thread_local!(static LARGEST: Cell<usize> = const { Cell::new(0) });

fn note(size: usize) {
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: everything is passed on.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// xorshift; the seed is part of every message.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] = self.next() as u8,
                1 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                2 => bytes.truncate(at),
                3 => bytes.insert(at, self.next() as u8),
                4 if bytes.len() >= at + 4 => bytes[at..at + 4].copy_from_slice(&[0xFF, 0xFF, 0xFF, self.next() as u8]),
                _ => bytes.extend(self.next().to_be_bytes()),
            }
        }
    }
}

fn feed(reader: &mut FrameReader, bytes: &[u8], random: &mut Random) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(1 + random.below(rest.len().min(MAX_DATA)));
        rest = later;
        let copy = |into: &mut [u8]| -> Result<usize, ()> {
            into[..now.len()].copy_from_slice(now);
            Ok(now.len())
        };
        reader.fill(copy).unwrap();
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => {
                    let _ = Request::decode(frame.payload);
                    let _ = welcome(&frame);
                }
                Ok(None) => break,
                Err(_) => return false,
            }
        }
    }
    true
}

#[test]
fn mutatedFramesNeverCauseAPanic() {
    let frames: Vec<Vec<u8>> = golden::all().iter().map(golden::Golden::read).collect();
    for seed in 1..=150_000u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..=random.below(3) {
            bytes.extend(&frames[random.below(frames.len())]);
        }
        random.mutate(&mut bytes);
        LARGEST.set(0);
        feed(&mut FrameReader::default(), &bytes, &mut random);
        assert!(LARGEST.get() <= 2 * (MAX_PAYLOAD + HEADER + MAX_DATA), "seed {seed} asked for {}", LARGEST.get());
    }
}

#[test]
fn mutatedRequestsNeverAskForMoreThanTheirOwnSize() {
    let opens: Vec<Vec<u8>> = golden::all()
        .iter()
        .filter(|golden| golden.kind == 0x10)
        .map(|golden| golden.read()[HEADER..].to_vec())
        .collect();
    for seed in 1..=300_000u64 {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let mut payload = opens[random.below(opens.len())].clone();
        random.mutate(&mut payload);
        LARGEST.set(0);
        let _ = Request::decode(&payload);
        // A list of references is four times as large as the lengths it is made of.
        assert!(LARGEST.get() <= 64 + payload.len() * 4, "seed {seed} asked for {}", LARGEST.get());
    }
}

#[test]
fn randomBytesNeverCauseAPanic() {
    for seed in 1..=100_000u64 {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F));
        let bytes: Vec<u8> = (0..random.below(200)).map(|_| random.next() as u8).collect();
        let _ = Request::decode(&bytes);
        feed(&mut FrameReader::default(), &bytes, &mut random);
        assert!(entries(&bytes).count() <= bytes.len());
    }
}
