//! Counter-based random numbers: a draw depends only on the seed and its purpose, never on earlier draws.
//!
//! Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3": ten rounds
//! scramble a counter of four words under a key of two. A test's [`Key`] stands for (seed, pair, S). Its counter is (step, permutation,
//! block, purpose). The last word is a [`Purpose`], which decides what the other words mean.

/// The multipliers of a round, and the constants added to the key after it.
const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Number of counters scrambled together: as many as fill the widest registers.
pub const LANES: usize = 8;

/// What a number is drawn for: the last word of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// A key.
    Key = 0,
    /// The order of the samples, and the neighbour that each of them takes.
    Local = 1,
    /// A plain permutation.
    Plain = 2,
    /// The order of equal values.
    Ties = 3,
    /// The rows of a resampled replicate.
    Rows = 4,
    /// A permutation that the orientation of a replicate's graph asks for.
    Orientation = 5,
    /// Random graphs and data.
    Simulation = 6,
    /// The choice of questions to ask.
    Questions = 7,
    /// The sample of pairs by which a GPU estimates the memory of a level.
    Pairs = 8,
    /// Random features of variables.
    Features = 9,
}

/// The key of a stream of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub [u32; 2]);

/// Returns four random words for one counter.
#[inline]
pub fn philox(counter: [u32; 4], key: Key) -> [u32; 4] {
    let Key(mut key) = key;
    let mut c = counter;
    for _ in 0..10 {
        let first = u64::from(MULTIPLIER[0]) * u64::from(c[0]);
        let second = u64::from(MULTIPLIER[1]) * u64::from(c[2]);
        c = [(second >> 32) as u32 ^ c[1] ^ key[0], second as u32, (first >> 32) as u32 ^ c[3] ^ key[1], first as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    c
}

/// Returns [`philox`] of the counters (first, ...), (first + 1, ...), ...: word by word, lane by lane.
#[inline(always)]
pub fn philox_lanes(first: u32, permutation: u32, purpose: Purpose, key: Key) -> [[u32; LANES]; 4] {
    let Key(mut key) = key;
    let mut c = [[0; LANES], [permutation; LANES], [0; LANES], [purpose as u32; LANES]];
    for (lane, word) in c[0].iter_mut().enumerate() {
        *word = first.wrapping_add(lane as u32);
    }
    for _ in 0..10 {
        let mut next = [[0; LANES]; 4];
        for lane in 0..LANES {
            let first = u64::from(MULTIPLIER[0]) * u64::from(c[0][lane]);
            let second = u64::from(MULTIPLIER[1]) * u64::from(c[2][lane]);
            next[0][lane] = (second >> 32) as u32 ^ c[1][lane] ^ key[0];
            next[1][lane] = second as u32;
            next[2][lane] = (first >> 32) as u32 ^ c[3][lane] ^ key[1];
            next[3][lane] = first as u32;
        }
        c = next;
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    c
}

impl Key {
    /// Returns the key of a seed.
    pub fn of_seed(seed: u64) -> Self {
        Key([seed as u32, (seed >> 32) as u32])
    }

    /// Returns a key that depends on this one and a word.
    fn with(self, word: u32, place: u32) -> Self {
        let scrambled = philox([word, place, 0, Purpose::Key as u32], self);
        Key([scrambled[0], scrambled[1]])
    }

    /// Returns the key of what all tests given S share. It does not depend on the order of S.
    pub fn of_set(seed: u64, s: &[u32]) -> Self {
        let mut sorted = s.to_vec();
        sorted.sort_unstable();
        sorted.iter().zip(0..).fold(Key::of_seed(seed), |key, (&member, place)| key.with(member, place))
    }

    /// Returns the key of one column, for the order of its equal values.
    pub fn of_column(seed: u64, column: u32) -> Self {
        Key::of_seed(seed).with(column, u32::MAX - 2)
    }
}

/// Maps a random word to one of 0 .. `bound` - 1 (Lemire 2019, without its rejection: the bias is below bound / 2^32).
#[inline(always)]
pub fn below(word: u32, bound: u32) -> u32 {
    ((u64::from(word) * u64::from(bound)) >> 32) as u32
}

/// Scrambles a pair of samples into a word, which decides between neighbours at equal distance and orders them. This is the finaliser of
/// MurmurHash3 on two words.
#[inline(always)]
pub fn scramble(key: Key, a: u32, b: u32) -> u32 {
    finish(finish(a ^ key.0[0]).wrapping_add(b) ^ key.0[1])
}

/// Returns the sample b for which `scramble(key, a, b)` is this word.
#[inline(always)]
pub fn unscramble(key: Key, a: u32, word: u32) -> u32 {
    (unfinish(word) ^ key.0[1]).wrapping_sub(finish(a ^ key.0[0]))
}

#[inline(always)]
fn finish(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85EB_CA6B);
    h ^= h >> 13;
    h = h.wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

/// Returns the word that [`finish`] makes this word of.
#[inline(always)]
fn unfinish(mut h: u32) -> u32 {
    h ^= h >> 16;
    // The inverses of the multipliers.
    h = h.wrapping_mul(0x7ED1_B41D);
    h ^= h >> 13 ^ h >> 26;
    h = h.wrapping_mul(0xA5CB_9243);
    h ^ (h >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the known answers that come with the authors' Random123.
    #[test]
    fn known_answers() {
        let all = u32::MAX;
        for (counter, key, want) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([all; 4], [all; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox(counter, Key(key)), want);
        }
    }

    #[test]
    fn lanes_are_single_counters() {
        let key = Key([7, 9]);
        let lanes = philox_lanes(13, 5, Purpose::Local, key);
        for lane in 0..LANES as u32 {
            let one = philox([13 + lane, 5, 0, Purpose::Local as u32], key);
            assert_eq!(one, lanes.map(|words| words[lane as usize]));
        }
    }

    #[test]
    fn keys_know_the_set_not_its_order() {
        let key = Key::of_set(1, &[7, 5]);
        assert_eq!(key, Key::of_set(1, &[5, 7]));
        let others = [
            Key::of_set(2, &[5, 7]),
            Key::of_set(1, &[4, 7]),
            Key::of_set(1, &[5]),
            Key::of_set(1, &[]),
            Key::of_set(1, &[2, 4, 5, 7]),
            Key::of_column(1, 5),
        ];
        assert!(others.iter().all(|&other| other != key));
    }

    #[test]
    fn bounded_words_cover_their_range() {
        assert_eq!((below(0, 5), below(u32::MAX, 5), below(1 << 31, 2)), (0, 4, 1));
        let mut seen = [0; 7];
        (0..7000).for_each(|i| seen[below(philox([i, 0, 0, 0], Key([1, 2]))[0], 7) as usize] += 1);
        assert!(seen.iter().all(|&count| (880..1120).contains(&count)), "{seen:?}");
    }

    #[test]
    fn scrambled_pairs_are_found_again() {
        for step in 0..100_000u32 {
            let [a, b, first, second] = philox([step, 0, 0, 0], Key([1, 2]));
            let key = Key([first, second]);
            assert_eq!(unscramble(key, a, scramble(key, a, b)), b);
        }
    }
}
