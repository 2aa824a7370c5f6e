//! Prints the bytes and milliseconds that it takes to send a graph to a worker of another process, for several shares of adjacent pairs.
//!
//! ```text
//! cargo run --release -p pcgpu-core --example wire -- VERTICES ...
//! ```
//!
//! Times whole graphs, and changes since the complete graph. `write` is the driver's time, once per level for all workers; `read` is each
//! worker's.

use std::time::Instant;

use pcgpu_core::graph::Adjacency;
use pcgpu_core::search::wire::graph::Frozen;

/// Returns a graph in which about `of_thousand` out of 1,000 pairs are adjacent.
fn simulated(p: usize, of_thousand: u64) -> Adjacency {
    let mixed = |x: u64, y: u64| {
        let z = (x << 32 | y).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
    };
    let is_edge = |x: usize, y: usize| (mixed(x as u64, y as u64) * 1000) >> 32 < of_thousand;
    Adjacency::from_lower(p, |y, w| {
        let last = y.min(64 * (w + 1));
        (64 * w..last.max(64 * w)).filter(|&x| is_edge(x, y)).fold(0, |word, x| word | 1 << (x % 64))
    })
}

fn main() {
    println!("| p | edges of 1,000 pairs | sent as | bytes | write ms | read ms |\n|---|---|---|---|---|---|");
    for p in std::env::args().skip(1).filter_map(|p| p.parse().ok()) {
        let complete = Frozen::Graph(Adjacency::complete(p));
        for of_thousand in [1000, 999, 990, 900, 500, 100, 10, 1] {
            let graph = Frozen::Graph(simulated(p, of_thousand));
            for before in [None, Some(&complete)] {
                let began = Instant::now();
                let bytes = graph.to_bytes(before);
                let written = began.elapsed().as_secs_f64() * 1e3;
                let began = Instant::now();
                let read = Frozen::from_bytes(&bytes, before);
                let ms = began.elapsed().as_secs_f64() * 1e3;
                assert!(read.is_some_and(|read| read == Frozen::of(&graph.clone().into_neighbours())));
                let form = if before.is_none() { "whole" } else { "change" };
                println!("| {p} | {of_thousand} | {form} | {} | {written:.0} | {ms:.0} |", bytes.len());
            }
        }
    }
}
