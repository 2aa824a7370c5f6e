//! Bytes and milliseconds of a graph on its way to a worker of another process, by how many pairs are edges.
//!
//! ```text
//! cargo run --release -p pcgpu-core --example wire -- VERTICES ...
//! ```
//!
//! Whole graphs, and what changed since the complete one. `write` is the driver's, once a level for all workers, `read` each worker's.

use std::time::Instant;

use pcgpu_core::graph::Adjacency;
use pcgpu_core::search::wire::graph::Frozen;

/// A graph in which of 1,000 pairs about so many are edges.
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
