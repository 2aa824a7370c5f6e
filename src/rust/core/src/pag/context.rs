//! The context that rules and path searches get.

use std::collections::HashSet;

use crate::orient::Poll;
use crate::Result;

/// A function that is called with text that pcalg prints with `verbose = TRUE`; its error ends the work.
pub type Say<'a> = &'a dyn Fn(&str) -> Result<()>;

/// Unshielded triples that may or may not be colliders: pcalg's `unfVect`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unclear(HashSet<[u32; 3]>);

impl Unclear {
    /// Adds the triple a - b - c.
    pub fn insert(&mut self, [a, b, c]: [u32; 3]) {
        self.0.insert([a.min(c), b, a.max(c)]);
    }

    /// Returns whether there is no such triple.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a - b - c is such a triple.
    #[inline]
    pub fn contains(&self, a: usize, b: usize, c: usize) -> bool {
        !self.0.is_empty() && self.0.contains(&[a.min(c) as u32, b as u32, a.max(c) as u32])
    }
}

impl FromIterator<[u32; 3]> for Unclear {
    fn from_iter<I: IntoIterator<Item = [u32; 3]>>(triples: I) -> Self {
        let mut unclear = Unclear::default();
        triples.into_iter().for_each(|triple| unclear.insert(triple));
        unclear
    }
}

/// The paths that the rules R4, R5, R9 and R10 find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// The paths that pcalg finds.
    #[default]
    Pcalg,
    /// All paths, as in the published rules.
    All,
}

/// The one of pcalg's two programs for the rules to follow where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// `udag2pag()`, for `fci()` and `fciPlus()`.
    Fci,
    /// `udag2apag()`, for `rfci()`.
    Rfci,
}

/// The context that every rule gets.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub unclear: &'a Unclear,
    pub paths: Paths,
    pub program: Program,
    pub poll: &'a Poll<'a>,
    pub say: Option<Say<'a>>,
}

impl Context<'_> {
    /// Passes text to the listener; without one, the text is not made.
    pub fn say(&self, text: impl FnOnce() -> String) -> Result<()> {
        self.say.map_or(Ok(()), |say| say(&text()))
    }
}

/// Formats variables as pcalg prints them: numbered from 1, separated by spaces.
pub(super) fn numbers(of: impl IntoIterator<Item = usize>) -> String {
    of.into_iter().map(|v| (v + 1).to_string()).collect::<Vec<_>>().join(" ")
}

/// Formats the enabled rules as pcalg prints them after a word.
pub fn shown_rules(rules: &[bool; 10]) -> String {
    format!(" {}", numbers((0..rules.len()).filter(|&rule| rules[rule])))
}
