//! Columns of some variables on a GPU that cannot hold all. The host has the codes of all variables packed, in pinned memory that the GPU
//! reads directly. The GPU turns them into the codes and planes that the kernels count with, in places of one size.

use super::counting::{has_planes, is_wide, padded, plane_size, Coding, BESIDE_COLUMNS, PLANE_CELLS, PLANE_LEVELS};
use crate::ci::discrete::{Codes, Discrete};
use crate::engine::cuda::arguments::{DiscreteArgs, SearchArgs};
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::CudaEngine;
use crate::memory::{self, Use};
use crate::Result;

/// Bytes of a variable in a table of columns: where its codes, planes and packed codes are, and its number of levels.
const ENTRY: u64 = 3 * 8 + 4;

/// Packed columns begin at multiples of this number: the GPU reads this many bytes at a time.
const ALIGNED: u64 = 128;

/// Returns the binary logarithm of the bits of a variable's packed code. A missing value has a code, too.
fn log_bits(test: &Discrete, v: usize) -> u64 {
    let data = test.data();
    match data.codes(v) {
        Codes::Words(_) => 4,
        Codes::Bytes(_) => match data.levels(v) + usize::from(data.missing(v)) {
            0..=2 => 0,
            3..=4 => 1,
            5..=16 => 2,
            _ => 3,
        },
    }
}

/// Returns the bytes of a variable's packed codes.
fn packed_bytes(test: &Discrete, v: usize) -> u64 {
    (padded(test) as u64 / 8) << log_bits(test, v)
}

/// Packs eight codes, which take a byte each, into `BITS` bits each, side by side.
fn side_by_side<const BITS: u32>(codes: [u8; 8]) -> u64 {
    let mut all = u64::from_le_bytes(codes);
    all = (all | all >> (8 - BITS)) & (((1 << (2 * BITS)) - 1) * 0x0001_0001_0001_0001);
    all = (all | all >> (2 * (8 - BITS))) & (((1 << (4 * BITS)) - 1) * 0x0000_0001_0000_0001);
    (all | all >> (4 * (8 - BITS))) & ((1 << (8 * BITS)) - 1)
}

fn pack_bytes<const BITS: u32>(codes: &[u8], to: &mut [u8]) {
    for (codes, to) in codes.chunks(8).zip(to.chunks_exact_mut(BITS as usize)) {
        let mut eight = [0; 8];
        eight[..codes.len()].copy_from_slice(codes);
        to.copy_from_slice(&side_by_side::<BITS>(eight).to_le_bytes()[..BITS as usize]);
    }
}

/// Packs a variable's codes; bits beyond its samples are arbitrary.
fn pack(test: &Discrete, v: usize, to: &mut [u8]) {
    match (test.data().codes(v), log_bits(test, v)) {
        (Codes::Bytes(codes), 0) => pack_bytes::<1>(codes, to),
        (Codes::Bytes(codes), 1) => pack_bytes::<2>(codes, to),
        (Codes::Bytes(codes), 2) => pack_bytes::<4>(codes, to),
        (Codes::Bytes(codes), _) => to[..codes.len()].copy_from_slice(codes),
        (Codes::Words(codes), _) => {
            to.chunks_exact_mut(2).zip(codes).for_each(|(to, code)| to.copy_from_slice(&code.to_le_bytes()));
        }
    }
}

/// Place of each variable's packed codes: an address of the host, plus the binary logarithm of a code's bits.
pub(in crate::engine::cuda) struct Packed(Vec<u64>);

/// The parts of a column that the GPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub codes: bool,
    pub planes: bool,
}

// Otherwise level 0 would count tables of variables with planes by codes.
const _: () = assert!((PLANE_LEVELS * PLANE_LEVELS) as u64 <= PLANE_CELLS);

impl Parts {
    /// Returns the parts that level 0 counts with: only planes, if all variables have them.
    pub fn of_pairs(test: &Discrete) -> Self {
        Parts { codes: (0..test.data().p()).any(|v| !has_planes(test, v)), planes: true }
    }

    /// Returns the parts that levels of sets and questions count with. `by_planes`: the kernel counts small tables by planes.
    pub fn of_sets(by_planes: bool) -> Self {
        Parts { codes: true, planes: by_planes }
    }

    /// Returns the bytes of a variable's column.
    pub fn bytes(self, test: &Discrete, v: usize) -> u64 {
        let planes = if self.planes && has_planes(test, v) { test.data().levels(v) as u64 } else { 0 };
        self.code_bytes(test, v) + 16 * planes * plane_size(test)
    }

    fn code_bytes(self, test: &Discrete, v: usize) -> u64 {
        if self.codes {
            (padded(test) as u64) << u32::from(is_wide(test, v))
        } else {
            0
        }
    }
}

/// Places on the GPU for columns, all as large as the largest column.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub at: DevicePtr<u8>,
    /// Bytes of a place.
    pub bytes: u64,
    pub parts: Parts,
}

impl Places {
    /// Returns the address after `count` places.
    pub fn after<T>(&self, count: u64) -> DevicePtr<T> {
        self.at.carve((count * self.bytes).next_multiple_of(256))
    }

    /// Returns the most places that planes can be in: the kernels count their elements in 32 bits.
    pub fn most(bytes: u64) -> u64 {
        (16 << 32) / bytes.max(1)
    }
}

/// Returns the bytes of a table of `count` columns, and as many that are to be filled.
pub(super) fn table_bytes(count: u64) -> u64 {
    2 * ENTRY * count + BESIDE_COLUMNS
}

/// Variables in the order of their numbers in the kernels, with the places of their columns; then those whose columns are not there yet.
pub(super) struct Table {
    entries: Vec<(u32, u32)>,
    count: usize,
}

impl Table {
    pub fn new(variables: impl IntoIterator<Item = (u32, u32)>, to_be_filled: &[(u32, u32)]) -> Self {
        let mut entries: Vec<(u32, u32)> = variables.into_iter().collect();
        let count = entries.len();
        entries.extend_from_slice(to_be_filled);
        Table { entries, count }
    }

    /// Returns the table's bytes on the GPU, up to where something else may begin.
    pub fn bytes(&self) -> u64 {
        (ENTRY * self.entries.len() as u64).next_multiple_of(256)
    }

    /// Returns the words to copy to the GPU.
    pub fn words(&self, test: &Discrete, places: &Places, Packed(packed): &Packed) -> Vec<u64> {
        let Places { bytes, parts, .. } = *places;
        let mut words = Vec::with_capacity(4 * self.entries.len());
        let column = |&(v, at): &(u32, u32)| u64::from(at) * bytes + u64::from(is_wide(test, v as usize));
        let plane = |&(v, at): &(u32, u32)| {
            let is_there = parts.planes && has_planes(test, v as usize) && u64::from(at) < Places::most(bytes);
            match is_there {
                true => (u64::from(at) * bytes + parts.code_bytes(test, v as usize)) / 16,
                false => u64::MAX,
            }
        };
        words.extend(self.entries.iter().map(column));
        words.extend(self.entries.iter().map(plane));
        words.extend(self.entries.iter().map(|&(v, _)| packed[v as usize]));
        let level = |&(v, _): &(u32, u32)| test.data().levels(v as usize) as u64;
        words.extend(self.entries.chunks(2).map(|two| level(&two[0]) | two.get(1).map_or(0, level) << 32));
        words
    }

    /// Returns the addresses of a table whose words are at `at`: of codes and planes, and of the packed codes' places.
    fn coding(&self, places: &Places, at: DevicePtr<u64>) -> (Coding, DevicePtr<u64>) {
        let all = self.entries.len() as u64;
        let (column, plane, packed) = (at, at.offset(all), at.offset(2 * all));
        let (codes, levels) = (places.at, at.offset(3 * all).cast());
        (Coding { codes, column, levels, planes: codes.cast(), plane }, packed)
    }

    /// Puts the kernel that makes the missing columns on the stream, for a table whose words are at `at`.
    pub fn fill(&self, engine: &CudaEngine, test: &Discrete, places: &Places, at: DevicePtr<u64>) -> Result<Coding> {
        let (coding, packed) = self.coding(places, at);
        let (first, fresh) = (self.count as u64, &self.entries[self.count..]);
        if fresh.is_empty() {
            return Ok(coding);
        }
        let args = DiscreteArgs {
            a: SearchArgs { p: fresh.len() as u64, ..SearchArgs::default() },
            codes: if places.parts.codes { coding.codes } else { DevicePtr::NULL },
            column: coding.column.offset(first),
            levels: coding.levels.offset(first),
            planes: coding.planes,
            plane: coding.plane.offset(first),
            plane_size: plane_size(test),
            packed: packed.offset(first),
            n: test.data().n() as u64,
            ..DiscreteArgs::default()
        };
        let launch = Kernel::dis_unpack.on((engine.held.gpu.processors * 8, 1), 256, 0);
        // SAFETY: the table has as many entries, with places that hold such columns, and packed codes that stay (`Held::lasting`).
        unsafe { engine.held.gpu.launch(launch, &args)? };
        engine.held.note_moved(fresh.iter().map(|&(v, _)| packed_bytes(test, v as usize)).sum());
        Ok(coding)
    }
}

impl CudaEngine<'_> {
    /// Returns the codes of all variables, which the first call packs.
    pub(super) fn pack(&mut self, test: &Discrete) -> Result<&Packed> {
        let packed = match self.packed.take() {
            Some(packed) => packed,
            None => self.packed_anew(test)?,
        };
        Ok(self.packed.insert(packed))
    }

    fn packed_anew(&mut self, test: &Discrete) -> Result<Packed> {
        let p = test.data().p();
        memory::room(8 * p, Use::Level)?;
        let sizes: Vec<u64> = (0..p).map(|v| packed_bytes(test, v).next_multiple_of(ALIGNED)).collect();
        let all = sizes.iter().sum::<u64>() as usize;
        memory::room(all, Use::Codes)?;
        let at = self.held.lasting(all)?;
        // SAFETY: `all` bytes are there, which nobody else has, and which are written before they are read.
        let mut rest = unsafe { std::slice::from_raw_parts_mut(at, all) };
        let mut address = at as u64;
        let mut sources = Vec::with_capacity(p);
        let mut columns = Vec::with_capacity(p);
        for (v, &bytes) in sizes.iter().enumerate() {
            sources.push(address + log_bits(test, v));
            address += bytes;
            let (own, others) = rest.split_at_mut(bytes as usize);
            columns.push((v, own));
            rest = others;
        }
        self.held.pool.each_of(columns, |_, (v, to): (usize, &mut [u8])| pack(test, v, to));
        Ok(Packed(sources))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_codes_stand_side_by_side() {
        fn check<const BITS: u32>() {
            let codes: Vec<u8> = (0..21u32).map(|i| (i * 7 % (1 << BITS)) as u8).collect();
            let mut packed = vec![0xff; 4 * BITS as usize];
            pack_bytes::<BITS>(&codes, &mut packed);
            for (i, &code) in codes.iter().enumerate() {
                let bit = i * BITS as usize;
                assert_eq!(packed[bit / 8] >> (bit % 8) & ((1 << BITS) - 1), code, "{BITS} bits, sample {i}");
            }
        }
        check::<1>();
        check::<2>();
        check::<4>();
    }
}
