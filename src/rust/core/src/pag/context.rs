//! What rules and searches of paths are told.

use std::collections::HashSet;

use crate::orient::Poll;
use crate::Result;

/// Called with text that pcalg prints with `verbose = TRUE`; an error of it ends the work.
pub type Say<'a> = &'a dyn Fn(&str) -> Result<()>;

/// Unshielded triples of which it is not known whether they are colliders: pcalg's `unfVect`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unclear(HashSet<[u32; 3]>);

impl Unclear {
    /// Adds the triple a - b - c.
    pub fn insert(&mut self, [a, b, c]: [u32; 3]) {
        self.0.insert([a.min(c), b, a.max(c)]);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a - b - c is one of them.
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

/// Which paths the rules R4, R5, R9 and R10 find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// Those that pcalg finds.
    #[default]
    Pcalg,
    /// All of them, as the rules were published.
    All,
}

/// Which of pcalg's two programs for the rules is followed, where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// `udag2pag()`, of `fci()` and `fciPlus()`.
    Fci,
    /// `udag2apag()`, of `rfci()`.
    Rfci,
}

/// What every rule is told.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub unclear: &'a Unclear,
    pub paths: Paths,
    pub program: Program,
    pub poll: &'a Poll<'a>,
    pub say: Option<Say<'a>>,
}

impl Context<'_> {
    /// Tells who reads along; the text is made for nobody else.
    pub fn say(&self, text: impl FnOnce() -> String) -> Result<()> {
        self.say.map_or(Ok(()), |say| say(&text()))
    }
}

/// Variables as pcalg prints them: numbered from 1, with a space between two.
pub(super) fn numbers(of: impl IntoIterator<Item = usize>) -> String {
    of.into_iter().map(|v| (v + 1).to_string()).collect::<Vec<_>>().join(" ")
}

/// The rules that are on, as pcalg prints them after a word.
pub fn shown_rules(rules: &[bool; 10]) -> String {
    format!(" {}", numbers((0..rules.len()).filter(|&rule| rules[rule])))
}
