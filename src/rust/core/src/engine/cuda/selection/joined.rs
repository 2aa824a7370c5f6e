//! The scheme of CUDA-JMI: CPU threads join the candidates of a batch with the feature selected last, while the GPU counts the previous batch.
//! The joint states of a candidate form a variable of their own. Its table with the class gives both sums. A benchmark only: R cannot choose it.

use super::codes::stride;
use super::counts::{too_many_states, Place};
use super::kernels::table_words;
use super::CudaCounting;
use crate::ci::discrete::Codes;
use crate::engine::cuda::arguments::{Feature, NO_MODE};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::pointer::DevicePtr;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::selection::{FeatureCodes, Joint, Partner, Samples, Sums};
use crate::Result;

/// Bytes of the joint states of a batch: enough to be worth a launch, few enough for CPU and GPU to overlap.
const BATCH: usize = 16 << 20;

/// Most entries of the map from pairs of levels to states; beyond this, combinations are sorted.
const MAP: usize = 1 << 22;

/// Most joint states that 16 bits can number.
const MOST_STATES: usize = 65_535;

/// [`SelectionArgs::stepwise`](super::SelectionArgs) so large that tables are counted first and then read, as in the paper's kernel.
const NEVER_STEPWISE: u64 = 1 << 30;

impl CudaCounting<'_> {
    /// Returns the bytes of the joint states of a batch, if two batches have `room` bytes.
    pub(super) fn batch_within(&self, room: u64) -> usize {
        let each = stride(self.samples.n(), true) as usize;
        each * (BATCH.min((room / 2) as usize) / each).clamp(1, self.range.len().max(1))
    }

    /// Runs a step in which `threads` CPU threads form the joint states.
    pub(super) fn count_joined(
        &mut self,
        threads: usize,
        partner: Partner,
        skip: &[bool],
        sums: &mut [Sums],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (n, samples, first) = (self.samples.n(), self.samples, self.range.start);
        let own;
        let partner = match partner {
            Partner::Nothing => {
                own = Joint::of_nothing(n);
                &own
            }
            Partner::Feature(g) => {
                own = Joint::of_variable(samples, g);
                &own
            }
            Partner::Joint(joint) => joint,
        };
        self.args.partner = DevicePtr::NULL;
        self.args.row_count = self.args.class_count;
        self.args.group_count = 1;
        self.args.stepwise = NEVER_STEPWISE;
        let candidates: Vec<usize> = (0..skip.len()).filter(|&place| !skip[place]).collect();
        let each = stride(n, true) as usize;
        let bytes = self.batch_bytes;
        let pinned = self.held.pinned(2 * bytes)?;
        let data = self.held.device(Buffer::Codes)?;
        let pool = Pool::at_most(threads);
        let mut formed = None;
        for (turn, batch) in candidates.chunks(bytes / each).enumerate() {
            let half = turn % 2 * bytes;
            // SAFETY: a half holds `bytes`. The copy from it two batches ago is done: the batch in between waited for the stream before its
            // launch.
            let buffer = unsafe { std::slice::from_raw_parts_mut(pinned.add(half), batch.len() * each) };
            let share = batch.len().div_ceil(threads.max(1));
            let mut states = vec![0; batch.len()];
            let parts =
                batch.chunks(share).zip(buffer.chunks_mut(share * each)).zip(states.chunks_mut(share)).collect();
            pool.each_of(parts, |_, ((part, buffer), states): ((&[usize], &mut [u8]), &mut [usize])| {
                let mut map = Vec::new();
                for ((&place, to), states) in part.iter().zip(buffer.chunks_mut(each)).zip(states) {
                    *states = join(samples, first + place, partner, &mut map, to);
                }
            });
            let most = states.iter().copied().max().unwrap_or(1);
            if most > MOST_STATES {
                return Err(too_many_states(most));
            }
            // The previous batch has been counted, and its half is free.
            self.wait("counting", observer, (turn * (bytes / each)) as f64, candidates.len() as f64)?;
            self.features = (batch.iter().zip(&states).enumerate())
                .map(|(i, (&place, &states))| Feature {
                    at: (half + i * each) as u64,
                    levels: states as u32,
                    wide: 1,
                    mode: NO_MODE,
                    place: place as u32,
                    packed: 0,
                })
                .collect();
            let words = table_words(most as u64, self.args.class_count, 1, n as u64, NEVER_STEPWISE, 32);
            let place = if 4 * words <= self.shared_room() { Place::Shared } else { Place::Device };
            if formed != Some(place) {
                let join = if place == Place::Device { Kernel::join_32 } else { Kernel::join_16 };
                let blocks = n.div_ceil(256).clamp(1, 4096) as u32;
                // SAFETY: the arguments are the selection's; there is no partner, so the rows are the classes.
                unsafe { self.held.gpu.launch(join.on((blocks, 1), 256, 0), &self.args)? };
                formed = Some(place);
            }
            // SAFETY: filled above; written again only after the next batch has waited for the stream.
            unsafe {
                let filled = std::slice::from_raw_parts(pinned.add(half), batch.len() * each);
                self.held.upload_pinned(data.offset(half as u64), filled)?;
            }
            self.held.upload(self.args.features, &self.features)?;
            self.count_range(0, batch.len(), place, candidates.len(), observer)?;
        }
        self.wait("counting", observer, 1.0, 1.0)?;
        self.bring_sums(skip, sums)
    }
}

/// Writes the joint states of a feature and a partner, 16 bits each, numbered in order of occurrence (the paper's algorithm 2). Returns their
/// number; if that is more than [`MOST_STATES`], the written states are invalid.
fn join(samples: &Samples, feature: usize, partner: &Joint, map: &mut Vec<u32>, to: &mut [u8]) -> usize {
    let levels = samples.levels(feature);
    if levels * partner.levels > MAP {
        let mut joint = partner.clone();
        joint.refine(samples, feature);
        if joint.levels <= MOST_STATES {
            joint.codes.iter().zip(to.chunks_exact_mut(2)).for_each(|(&state, to)| put(state, to));
        }
        return joint.levels;
    }
    map.clear();
    map.resize(levels * partner.levels, u32::MAX);
    match samples.codes(feature) {
        FeatureCodes::Dense(Codes::Bytes(codes)) => join_codes(codes, levels, &partner.codes, map, to),
        FeatureCodes::Dense(Codes::Words(codes)) => join_codes(codes, levels, &partner.codes, map, to),
        sparse => join_codes(&sparse.to_vec(samples.n()), levels, &partner.codes, map, to),
    }
}

fn join_codes<C: Copy + Into<u32>>(
    codes: &[C],
    levels: usize,
    partner: &[u32],
    map: &mut [u32],
    to: &mut [u8],
) -> usize {
    let mut states = 0;
    for ((&code, &g), to) in codes.iter().zip(partner).zip(to.chunks_exact_mut(2)) {
        let code: u32 = code.into();
        let state = &mut map[g as usize * levels + code as usize];
        if *state == u32::MAX {
            *state = states;
            states += 1;
        }
        put(*state, to);
    }
    states as usize
}

#[inline]
fn put(state: u32, to: &mut [u8]) {
    to.copy_from_slice(&(state as u16).to_ne_bytes());
}
