//! A cache of tables for all threads, keyed by the set of their variables. No thread ever waits for another.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::memory::{self, Use};

/// Number of cells in a chunk, which holds tables of one thread, and the number of chunks. A larger table takes a block of several chunks.
const CHUNK: usize = 1 << 12;
const CHUNKS: usize = 1 << 9;

/// Number of slots in each list. The lists are made one after the other. A table is in the first list that had room among the slots of its
/// key, which fill one cache line.
const SLOTS: [usize; 3] = [1 << 12, 1 << 15, 1 << 18];
const LINE: usize = 8;

/// Number of words in a key, which precedes the cells.
const KEY: usize = 4;

/// A slot holds a part of the hash, the chunk, and the position in it, counted from 1; 0 is an empty slot.
const TAG: u32 = 40;
const PLACE: u32 = 20;

/// The cached tables of one data set.
#[derive(Debug, Default)]
pub struct Shared {
    /// The current tables, to which new ones are added, and the previous ones.
    now: Mutex<[Arc<Tables>; 2]>,
}

impl Shared {
    /// Returns a handle for reading and adding tables.
    pub(super) fn open(&self) -> CacheHandle {
        CacheHandle { tables: self.now.lock().map(|now| now.clone()).unwrap_or_default(), chunk: 0, room: 0..0 }
    }

    /// Starts new tables if nothing fits any more, and drops the tables before the current ones.
    fn renew(&self, cache: &mut CacheHandle) {
        let Ok(mut now) = self.now.lock() else { return };
        if Arc::ptr_eq(&now[0], &cache.tables[0]) {
            *now = [Arc::new(Tables::with_room()), now[0].clone()];
        }
        *cache = CacheHandle { tables: now.clone(), chunk: 0, room: 0..0 };
    }
}

/// The tables as one thread sees them, and the chunk to which it adds tables.
#[derive(Debug)]
pub(super) struct CacheHandle {
    tables: [Arc<Tables>; 2],
    chunk: usize,
    /// The free part of the chunk.
    room: std::ops::Range<usize>,
}

/// Tables: the variables of a table are in ascending order, and the levels of the last one are adjacent.
#[derive(Debug, Default)]
struct Tables {
    slots: [OnceLock<Vec<AtomicU64>>; SLOTS.len()],
    chunks: Vec<OnceLock<Vec<AtomicU32>>>,
    /// Number of chunks in use.
    taken: AtomicUsize,
}

impl Tables {
    /// Makes room for tables. Without enough memory, which is noted, there is none.
    fn with_room() -> Self {
        let chunks = memory::noted(memory::collected((0..CHUNKS).map(|_| OnceLock::new()), Use::Tables));
        Tables { chunks: chunks.unwrap_or_default(), ..Tables::default() }
    }

    #[inline]
    fn get(&self, key: u128, hash: u64) -> Option<&[AtomicU32]> {
        for slots in &self.slots {
            for slot in line(slots.get()?, hash) {
                // Acquire makes visible what was written before the slot.
                let slot = slot.load(Ordering::Acquire);
                if slot == 0 {
                    return None;
                }
                if slot >> TAG == hash >> TAG {
                    let (chunk, place) = (slot >> PLACE & ((1 << (TAG - PLACE)) - 1), slot & ((1 << PLACE) - 1));
                    let table = self.chunks.get(chunk as usize)?.get()?.get(place as usize - 1..)?;
                    if (0..KEY).all(|word| table[word].load(Ordering::Relaxed) == (key >> (32 * word)) as u32) {
                        return Some(&table[KEY..]);
                    }
                }
            }
        }
        None
    }
}

/// Returns the slots of a hash in a list.
#[inline]
fn line(slots: &[AtomicU64], hash: u64) -> &[AtomicU64] {
    let start = (hash as usize).wrapping_mul(LINE) & slots.len().wrapping_sub(1);
    slots.get(start..start + LINE).unwrap_or_default()
}

impl CacheHandle {
    /// Returns the cells that begin with the table, or `None` if it is not kept.
    #[inline]
    pub fn get(&self, key: u128) -> Option<&[AtomicU32]> {
        let hash = mixed(key);
        self.tables.iter().find_map(|tables| tables.get(key, hash))
    }

    /// Keeps a table of this many cells, which are 0 until `write` writes them. Older tables may be dropped for it.
    pub fn put(&mut self, shared: &Shared, key: u128, len: usize, write: impl FnOnce(&[AtomicU32])) {
        if self.room.len() < KEY + len && !self.take(KEY + len) {
            shared.renew(self);
            if !self.take(KEY + len) {
                return;
            }
        }
        let Some(cells) = self.tables[0].chunks.get(self.chunk).and_then(|chunk| chunk.get()) else { return };
        let Some(cells) = cells.get(self.room.start..self.room.start + KEY + len) else { return };
        (0..KEY).for_each(|word| cells[word].store((key >> (32 * word)) as u32, Ordering::Relaxed));
        write(&cells[KEY..]);
        let hash = mixed(key);
        let slot = hash >> TAG << TAG | (self.chunk as u64) << PLACE | (self.room.start as u64 + 1);
        let kept = self.tables[0].slots.iter().zip(SLOTS).any(|(slots, len)| {
            let made = || memory::collected((0..len).map(|_| AtomicU64::new(0)), Use::Tables);
            line(slots.get_or_init(|| memory::noted(made()).unwrap_or_default()), hash).iter().any(|place| {
                place.load(Ordering::Relaxed) == 0
                    && place.compare_exchange(0, slot, Ordering::Release, Ordering::Relaxed).is_ok()
            })
        });
        self.room.start += KEY + len;
        if !kept {
            shared.renew(self);
        }
    }

    /// Takes a chunk of at least this many words; returns false if there is none.
    fn take(&mut self, words: usize) -> bool {
        let units = words.div_ceil(CHUNK);
        let first = self.tables[0].taken.fetch_add(units, Ordering::Relaxed);
        let Some(chunk) = self.tables[0].chunks.get(first).filter(|_| first + units <= CHUNKS) else { return false };
        let made = memory::noted(memory::collected((0..units * CHUNK).map(|_| AtomicU32::new(0)), Use::Tables));
        (self.chunk, self.room) = (first, 0..units * CHUNK);
        made.is_some_and(|made| chunk.set(made).is_ok())
    }
}

/// Returns a key for a set of variables: the members, counted from 1, packed in ascending order. `bits` is the number of bits that the
/// number p takes. `two` holds up to two members, ascending, that are not among the others.
#[inline]
pub(super) fn key(two: [Option<u32>; 2], others: impl IntoIterator<Item = u32>, bits: u32) -> u128 {
    let (mut key, mut two) = (0u128, two);
    let mut add = |member: u32| key = key << bits | u128::from(member + 1);
    for member in others {
        for own in &mut two {
            if let Some(own) = own.take_if(|own| *own < member) {
                add(own);
            }
        }
        add(member);
    }
    two.into_iter().flatten().for_each(add);
    key
}

/// Returns a quick hash; nobody chooses keys to collide.
#[inline]
fn mixed(key: u128) -> u64 {
    [key as u64, (key >> 64) as u64].into_iter().fold(0, |hash, half| {
        let product = u128::from(hash ^ half ^ 0x2545_f491_4f6c_dd1d) * 0x9e37_79b9_7f4a_7c15;
        (product >> 64) as u64 ^ product as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl CacheHandle {
        /// Returns the number of tables.
        pub fn len(&self) -> usize {
            let slots = self.tables[0].slots.iter().filter_map(|slots| slots.get()).flatten();
            slots.filter(|slot| slot.load(Ordering::Relaxed) != 0).count()
        }
    }

    #[test]
    fn tables_of_all_threads_are_found_until_there_are_too_many() {
        let shared = Shared::default();
        let size = |member: u32| if member % 1000 == 7 { CHUNK + 5 } else { 1 + member as usize % 9 };
        let key_of = |member: u32| key([Some(member), None], [1 << 20], 22);
        let fill = |members: std::ops::Range<u32>| {
            let mut cache = shared.open();
            for member in members {
                cache.put(&shared, key_of(member), size(member), |cells| {
                    cells.iter().for_each(|cell| cell.store(member, Ordering::Relaxed));
                });
            }
        };
        let found = |members: std::ops::Range<u32>| {
            let cache = shared.open();
            let of = |member: &u32| {
                let cells = cache.get(key_of(*member))?;
                assert!(cells.iter().take(size(*member)).all(|cell| cell.load(Ordering::Relaxed) == *member));
                Some(())
            };
            members.filter_map(|member| of(&member)).count()
        };
        std::thread::scope(|scope| {
            scope.spawn(|| fill(0..5_000));
            scope.spawn(|| fill(5_000..10_000));
        });
        assert_eq!((found(0..10_000), found(10_000..20_000)), (10_000, 0));
        std::thread::scope(|scope| {
            scope.spawn(|| fill(10_000..700_000));
            scope.spawn(|| fill(700_000..1_400_000));
        });
        let left = found(0..1_400_000);
        assert!(left > 1000 && left < 1_000_000 && found(1_399_990..1_400_000) + found(699_990..700_000) > 5, "{left}");
        // A table that is too large is never kept.
        shared.open().put(&shared, 1, CHUNKS * CHUNK, |_| panic!());
    }

    #[test]
    fn keys_stand_for_the_members_in_ascending_order() {
        assert_eq!(key([Some(2), Some(9)], [0, 5, 11], 4), 0x136ac);
        assert_eq!(key([Some(0), None], [], 4), 1);
        assert_ne!(key([Some(0), Some(1)], [], 4), key([Some(1), None], [], 4));
    }
}
