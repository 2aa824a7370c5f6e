//! What the answer of a search depends on, by name. It shows whether a checkpoint belongs to another search.

use xxhash_rust::xxh3::Xxh3;

use crate::graph::{Adjacency, Tiers};
use crate::search::{Largest, Method, Options};
use crate::shown;

/// A digest in progress: 128-bit XXH3, which finds accidental differences and is not cryptographic.
#[derive(Default)]
pub struct Digest(Xxh3);

impl Digest {
    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds a number, such as the length of what follows.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Adds numbers, with their count first.
    pub fn doubles(&mut self, values: &[f64]) {
        self.number(values.len() as u64);
        let mut bytes = Vec::with_capacity(8 * values.len().min(CHUNK));
        for chunk in values.chunks(CHUNK) {
            bytes.clear();
            chunk.iter().for_each(|value| bytes.extend_from_slice(&value.to_bits().to_le_bytes()));
            self.bytes(&bytes);
        }
    }

    /// Returns the digest.
    pub fn end(&self) -> u128 {
        self.0.digest128()
    }
}

/// Numbers that are converted to bytes at a time.
const CHUNK: usize = 1 << 12;

/// An argument of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name in R.
    pub name: String,
    /// Its value, if that is a word.
    pub shown: String,
    /// Digest of its value.
    pub digest: u128,
}

impl Asked {
    /// Makes an argument that a word describes in full.
    pub fn word(name: &str, shown: impl Into<String>) -> Self {
        let shown = shown.into();
        let mut digest = Digest::default();
        digest.bytes(shown.as_bytes());
        Asked { name: name.into(), shown, digest: digest.end() }
    }

    /// Makes an argument with a digest.
    pub fn digested(name: &str, digest: &Digest) -> Self {
        Asked { name: name.into(), shown: String::new(), digest: digest.end() }
    }

    fn pairs(name: &str, graph: Option<&Adjacency>) -> Self {
        let Some(graph) = graph else { return Asked::word(name, "NULL") };
        let mut digest = Digest::default();
        graph.each_number(|number| digest.number(number));
        Asked::digested(name, &digest)
    }

    fn tiers(tiers: &Tiers) -> Self {
        if tiers.is_none() {
            return Asked::word("tiers", "NULL");
        }
        let mut digest = Digest::default();
        tiers.ranks().iter().for_each(|&tier| digest.number(u64::from(tier)));
        Asked::digested("tiers", &digest)
    }

    /// Describes the difference between this argument, of a file, and `now`, of a call.
    fn difference(&self, now: &Asked) -> Option<String> {
        if self.digest == now.digest {
            return None;
        }
        Some(match (self.shown.as_str(), now.shown.as_str()) {
            ("", _) | (_, "") => format!("`{}` differs", self.name),
            (then, now) => format!("`{}` is {then} instead of {now}", self.name),
        })
    }
}

/// Returns everything that the answer depends on. `m.max` is left out: a level is the same whatever may follow.
pub(super) fn all(options: &Options, largest: &Largest, of_test: &[Asked]) -> Vec<Asked> {
    let method = match options.method {
        Method::Stable => "stable",
        Method::StableFast => "stable.fast",
        Method::Original => "original",
    };
    let result = match largest {
        Largest::Square(_) => "pcAlgo",
        Largest::Left(_) => "compact",
    };
    // Several numbers may have the same text.
    let alpha = Asked { shown: shown(options.alpha), ..Asked::word("alpha", options.alpha.to_bits().to_string()) };
    let mut all = vec![Asked::word("p", options.p.to_string())];
    all.extend_from_slice(of_test);
    all.extend([
        alpha,
        Asked::word("method", method),
        Asked::pairs("fixedGaps", options.fixed_gaps.as_ref()),
        Asked::pairs("fixedEdges", options.fixed_edges.as_ref()),
        Asked::tiers(&options.tiers),
        Asked::word("NAdelete", if options.na_delete { "TRUE" } else { "FALSE" }),
        Asked::word("result", result),
    ]);
    all
}

/// Describes what differs between the arguments of a file and of a call, or returns `None` if nothing does.
pub(super) fn difference(of_file: &[Asked], of_call: &[Asked]) -> Option<String> {
    let known = |name: &str| of_file.iter().find(|asked| asked.name == name);
    let one = |now: &Asked| match known(&now.name) {
        Some(then) => then.difference(now),
        None => Some(format!("`{}` is missing", now.name)),
    };
    let all: Vec<String> = of_call.iter().filter_map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let options = Options::new(5, 0.01);
        let of = |options: &Options| all(options, &Largest::Square(&mut []), &[Asked::word("indepTest", "a")]);
        assert_eq!(difference(&of(&options), &of(&options)), None);
        let mut other = Options { method: Method::Original, ..Options::new(5, 0.01 + 1e-17) };
        assert_eq!(
            difference(&of(&options), &of(&other)).unwrap(),
            "`alpha` is 0.01 instead of 0.01, `method` is stable instead of original"
        );
        other = Options { fixed_gaps: Some(Adjacency::empty(5)), ..options.clone() };
        assert_eq!(difference(&of(&options), &of(&other)).unwrap(), "`fixedGaps` differs");
        assert_eq!(difference(&of(&options)[..3], &of(&options)).unwrap().matches("` is missing").count(), 6);
    }
}
