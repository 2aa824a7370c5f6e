//! Tables that are kept by the set of their variables, for all threads, none of which ever waits for another.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::memory::{self, Use};

/// Cells of the tables of a thread stand in chunks of this size, a larger table in a chunk of its own; there is a number of chunks.
const CHUNK: usize = 1 << 12;
const CHUNKS: usize = 1 << 9;

/// Slots of the lists that are made one after the other. A table is in the first list that had room among the slots of its key, which are a
/// line of the cache.
const SLOTS: [usize; 3] = [1 << 12, 1 << 15, 1 << 18];
const LINE: usize = 8;

/// Words of a key, which stand before the cells.
const KEY: usize = 4;

/// A slot has a part of the hash, the chunk, and the place in it from 1; 0 is an empty one.
const TAG: u32 = 40;
const PLACE: u32 = 20;

/// The tables of one data set.
#[derive(Debug, Default)]
pub struct Shared {
    /// Those that tables are put to, and those before them.
    now: Mutex<[Arc<Tables>; 2]>,
}

impl Shared {
    /// Where to look, and to keep.
    pub(super) fn open(&self) -> CacheHandle {
        CacheHandle { tables: self.now.lock().map(|now| now.clone()).unwrap_or_default(), chunk: 0, room: 0..0 }
    }

    /// Begins anew where nothing fits in any more: the tables before these go.
    fn renew(&self, cache: &mut CacheHandle) {
        let Ok(mut now) = self.now.lock() else { return };
        if Arc::ptr_eq(&now[0], &cache.tables[0]) {
            *now = [Arc::new(Tables::with_room()), now[0].clone()];
        }
        *cache = CacheHandle { tables: now.clone(), chunk: 0, room: 0..0 };
    }
}

/// The tables as one thread sees them, and where it puts more.
#[derive(Debug)]
pub(super) struct CacheHandle {
    tables: [Arc<Tables>; 2],
    chunk: usize,
    /// What is free of the chunk.
    room: std::ops::Range<usize>,
}

/// Tables: the members of a table's variables stand in ascending order, the levels of the last one side by side.
#[derive(Debug, Default)]
struct Tables {
    slots: [OnceLock<Vec<AtomicU64>>; SLOTS.len()],
    chunks: Vec<OnceLock<Vec<AtomicU32>>>,
    /// Chunks that are taken.
    taken: AtomicUsize,
}

impl Tables {
    /// None where memory does not suffice, which is noted.
    fn with_room() -> Self {
        let chunks = memory::noted(memory::collected((0..CHUNKS).map(|_| OnceLock::new()), Use::Tables));
        Tables { chunks: chunks.unwrap_or_default(), ..Tables::default() }
    }

    #[inline]
    fn get(&self, key: u128, hash: u64) -> Option<&[AtomicU32]> {
        for slots in &self.slots {
            for slot in line(slots.get()?, hash) {
                // What was written before the slot is seen.
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

/// The slots of a hash in a list.
#[inline]
fn line(slots: &[AtomicU64], hash: u64) -> &[AtomicU64] {
    let start = (hash as usize).wrapping_mul(LINE) & slots.len().wrapping_sub(1);
    slots.get(start..start + LINE).unwrap_or_default()
}

impl CacheHandle {
    /// What begins with the table, none where it is not kept.
    #[inline]
    pub fn get(&self, key: u128) -> Option<&[AtomicU32]> {
        let hash = mixed(key);
        self.tables.iter().find_map(|tables| tables.get(key, hash))
    }

    /// Keeps a table of so many cells, which `write` writes, zeros before. Others may go for it.
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

    /// A chunk of at least so many words.
    fn take(&mut self, words: usize) -> bool {
        let units = words.div_ceil(CHUNK);
        let first = self.tables[0].taken.fetch_add(units, Ordering::Relaxed);
        let Some(chunk) = self.tables[0].chunks.get(first).filter(|_| first + units <= CHUNKS) else { return false };
        let made = memory::noted(memory::collected((0..units * CHUNK).map(|_| AtomicU32::new(0)), Use::Tables));
        (self.chunk, self.room) = (first, 0..units * CHUNK);
        made.is_some_and(|made| chunk.set(made).is_ok())
    }
}

/// A number for a set of variables: the members, from 1, in ascending order, side by side; `bits` are what the number p takes. `two` are
/// up to two members, ascending, that are not among the others.
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

/// A quick hash: the keys are nobody's choice.
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
        /// Number of tables.
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
        // What can never be kept.
        shared.open().put(&shared, 1, CHUNKS * CHUNK, |_| panic!());
    }

    #[test]
    fn keys_stand_for_the_members_in_ascending_order() {
        assert_eq!(key([Some(2), Some(9)], [0, 5, 11], 4), 0x136ac);
        assert_eq!(key([Some(0), None], [], 4), 1);
        assert_ne!(key([Some(0), Some(1)], [], 4), key([Some(1), None], [], 4));
    }
}
