//! Prints the milliseconds of a driver's own work on levels 0 and 1, if workers decide them pair by pair, for several numbers of variables.
//!
//! ```text
//! cargo run --release -p pcgpu-core --example pairs -- VERTICES ...
//! ```
//!
//! Out of 100 pairs, level 0 leaves 68 and level 1 about 7, as for data like gene expression. The workers' results are made up beforehand.
//! `level 0` and `level 1` are the times to enter them, `finish` is the time for the separating sets.

use std::time::Instant;

use pcgpu_core::ci::Batch;
use pcgpu_core::graph::Adjacency;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::book::Book;
use pcgpu_core::search::pairs::{PairLevel, PairRows, Pairwise, NO_SEPARATOR};
use pcgpu_core::search::shards::Work;
use pcgpu_core::search::worker::{Column, Marginals, Worker};
use pcgpu_core::search::{skeleton, Method, Options, PairValues};
use pcgpu_core::Result;

fn mixed(x: u64, y: u64) -> u64 {
    let z = (x << 32 | y).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
}

/// A worker that knows all results beforehand.
struct Known {
    pool: Pool,
    kept: Adjacency,
    separated: Adjacency,
    verdicts: Vec<u32>,
    values: Vec<f64>,
}

impl Known {
    fn new(p: usize) -> Self {
        let of_word = |y: usize, w: usize| {
            // About two bits out of three.
            let word = |salt| mixed((y * 1000 + w) as u64, salt) | mixed((y * 1000 + w) as u64, salt + 1) << 32;
            let below = if 64 * w + 64 <= y { !0 } else { (1 << (y - 64 * w)) - 1 };
            (word(0) | word(2) & word(4)) & below
        };
        let kept = Adjacency::from_lower(p, of_word);
        let separated = kept.clone().complement(&Pool::none());
        let verdict = |at: u64| if mixed(at, 7) % 10 == 0 { NO_SEPARATOR } else { mixed(at, 9) as u32 % 97 };
        let verdicts = (0..1 << 20).map(verdict).collect();
        let values = (0..1 << 20).map(|at| 0.01 + f64::from(at) * 1e-9).collect();
        Known { pool: Pool::at_most(default_threads()), kept, separated, verdicts, values }
    }
}

impl Pairwise for Known {
    fn pairs(&mut self, _: &PairLevel, rows: &mut PairRows, _: &mut dyn Observer) -> Result<()> {
        let each = self.verdicts.len();
        let parts = rows.verdicts.chunks_mut(each).zip(rows.values.chunks_mut(each));
        self.pool.each_of(parts.collect(), |_, (verdicts, values): (&mut [u32], &mut [f64])| {
            verdicts.copy_from_slice(&self.verdicts[..verdicts.len()]);
            values.copy_from_slice(&self.values[..values.len()]);
        });
        Ok(())
    }
}

impl Worker for Known {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        1
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, _: &mut dyn Observer) -> Result<()> {
        for column in columns {
            let y = column.y();
            column.settle(level, self.separated.bit_row(y), self.kept.bit_row(y));
        }
        Ok(())
    }

    fn answer(&mut self, _: &Work, _: &Book, _: &mut dyn Observer) -> Result<()> {
        Ok(())
    }

    fn p_values(&mut self, batch: &Batch, _: &mut dyn Observer) -> Result<Vec<f64>> {
        Ok(vec![0.0; batch.len()])
    }

    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        Some(self)
    }
}

/// The times at which levels began.
struct Clock(Vec<Instant>);

impl Observer for Clock {
    fn level(&mut self, _: usize, _: usize) -> Result<()> {
        self.0.push(Instant::now());
        Ok(())
    }
}

fn main() {
    println!("| p | pairs at level 1 | level 0 ms | level 1 and finish ms |\n|---|---|---|---|");
    for p in std::env::args().skip(1).filter_map(|p| p.parse().ok()) {
        let mut known = Known::new(p);
        let options = Options { method: Method::StableFast, m_max: 1.0, ..Options::new(p, 0.01) };
        for _ in 0..3 {
            let (mut values, mut clock) = (PairValues::default(), Clock(Vec::new()));
            let found = skeleton(&mut known, &options, &mut values, &mut clock).map(|found| found.graph.edge_count());
            let ended = Instant::now();
            let ms = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1e3;
            let (levels, left) = (&clock.0, known.kept.edge_count());
            match found {
                Ok(_) => println!("| {p} | {left} | {:.0} | {:.0} |", ms(levels[0], levels[1]), ms(levels[1], ended)),
                Err(error) => println!("{error}"),
            }
        }
    }
}
