//! A state as bytes, as `wire` writes them: numbers in little-endian order, lists with their length first.

use std::io::{self, Write};

use super::asked::Asked;
use super::state::{Cut, DoneColumn, DoneShards, Found, Mark, Part, State, View, Within};
use crate::graph::{bits, Adjacency, SepSetLog, Separations, Singles};
use crate::search::answer::{Answers, PairAnswer};
use crate::search::largest::Known;
use crate::search::level::Verdict;
use crate::search::report::LevelReport;
use crate::search::wire::{Reader, Writer};
use crate::search::{Largest, Options};
use crate::Result;

/// Codes: how a graph is written, how p-values are written, and which kind of part of a level is done.
const BITS: u64 = 0;
const PAIRS: u64 = 1;
const GAPS: u64 = 2;
const NONE: u64 = 0;
const SQUARE: u64 = 1;
const LEFT: u64 = 2;
const EARLY: u64 = 3;
const COLUMNS: u64 = 1;
const SHARDS: u64 = 2;
const VISITS: u64 = 3;

/// Number of bytes that are gathered before they are written.
const PIECE: usize = 1 << 16;

impl Writer {
    /// Writes answers with their sets, as the reader has no work to derive the sets from. Tests without an answer do not occur.
    fn answers(&mut self, answers: &Answers) {
        self.number(answers.shard);
        self.number(answers.of_pairs.len() as u64);
        for PairAnswer { row, at, verdict, set, exact_tests } in &answers.of_pairs {
            let (separates, p) = match *verdict {
                Verdict::Independent { p, .. } => (1, p),
                Verdict::Dependent { p, .. } => (0, p),
                Verdict::Undefined { .. } => (0, f64::NAN),
            };
            self.vertex(*row);
            [*at as u64, separates, verdict.rank(), p.to_bits(), *exact_tests].iter().for_each(|&n| self.number(n));
            self.vertices(set);
        }
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.0)?;
        self.0.clear();
        Ok(())
    }

    /// Writes the gathered bytes once there are [`PIECE`] of them.
    fn pass(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.0.len() < PIECE {
            return Ok(());
        }
        self.flush(out)
    }

    fn doubles(&mut self, values: &[f64], out: &mut dyn Write) -> io::Result<()> {
        self.number(values.len() as u64);
        for &value in values {
            self.number(value.to_bits());
            self.pass(out)?;
        }
        Ok(())
    }

    fn words(&mut self, words: &[u64], out: &mut dyn Write) -> io::Result<()> {
        self.number(words.len() as u64);
        for &word in words {
            self.number(word);
            self.pass(out)?;
        }
        Ok(())
    }

    /// Writes edges to larger vertices, as bits or as numbers; or the pairs that are no edges, if they are few.
    fn graph(&mut self, graph: &Adjacency, out: &mut dyn Write) -> io::Result<()> {
        let (p, edges) = (graph.p(), graph.edge_count());
        let gaps = p * p.saturating_sub(1) / 2 - edges;
        let form = if 8 * edges.min(gaps) >= Adjacency::bytes_of_bits(p) {
            BITS
        } else if edges <= gaps {
            PAIRS
        } else {
            GAPS
        };
        self.number(form);
        for x in 0..p {
            let gaps = || graph.gaps_of(x).flat_map(|(w, word)| bits(w, word)).filter(|&y| y as usize > x);
            match form {
                BITS => (x / 64..p.div_ceil(64)).for_each(|w| self.number(graph.row(x).word(w))),
                PAIRS => self.vertices(&graph.neighbours_above(x).collect::<Vec<_>>()),
                _ => self.vertices(&gaps().collect::<Vec<_>>()),
            }
            self.pass(out)?;
        }
        Ok(())
    }

    fn separations(&mut self, found: &Separations, out: &mut dyn Write) -> io::Result<()> {
        self.number(found.size as u64);
        self.number(found.pairs.len() as u64);
        for (at, &[x, y]) in found.pairs.iter().enumerate() {
            self.vertex(x);
            self.vertex(y);
            found.members[at * found.size..(at + 1) * found.size].iter().for_each(|&member| self.vertex(member));
            self.pass(out)?;
        }
        Ok(())
    }

    fn report(&mut self, report: &LevelReport) {
        for number in [report.tests, report.exact_tests, u64::from(report.go_on)] {
            self.number(number);
        }
    }

    fn mark(&mut self, mark: Option<&Mark>, out: &mut dyn Write) -> io::Result<()> {
        self.number(u64::from(mark.is_some()));
        let Some(Mark { graph, values }) = mark else { return Ok(()) };
        self.graph(graph, out)?;
        self.doubles(values, out)
    }

    fn part(&mut self, part: &Part, out: &mut dyn Write) -> io::Result<()> {
        match part {
            Part::Columns(columns) => {
                self.number(COLUMNS);
                self.number(columns.len() as u64);
                for DoneColumn { y, separated, kept, values } in columns {
                    self.number(*y as u64);
                    self.words(separated, out)?;
                    self.words(kept, out)?;
                    self.doubles(values, out)?;
                }
            }
            Part::Visits { number, rank } => [VISITS, *number, *rank].into_iter().for_each(|n| self.number(n)),
            Part::Shards(done) => {
                self.number(SHARDS);
                self.number(u64::from(done.second.is_some()));
                if let Some(second) = &done.second {
                    self.graph(second, out)?;
                }
                let Cut { shard_tests, threads, sides_at_once } = done.cut;
                let counts =
                    [done.rows.start as u64, done.rows.end as u64, shard_tests, threads as u64, sides_at_once as u64];
                counts.into_iter().chain([done.tests, done.exact_tests]).for_each(|number| self.number(number));
                let numbers: Vec<u64> = done.numbers.iter().map(|&number| number as u64).collect();
                self.words(&numbers, out)?;
                self.separations(&done.separations, out)?;
                self.number(done.pieces.len() as u64);
                for answers in &done.pieces {
                    self.answers(answers);
                    self.pass(out)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes the state that a search hands over.
pub(in crate::search) fn write_view(view: &View, out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Writer::default();
    bytes.graph(view.graph, out)?;
    bytes.number(u64::from(view.is_exact));
    let (empty, singles, found) = view.sepsets.parts();
    bytes.graph(empty, out)?;
    bytes.words(&singles.starts, out)?;
    for &[y, member] in &singles.records {
        bytes.vertex(y);
        bytes.vertex(member);
        bytes.pass(out)?;
    }
    bytes.number(found.len() as u64);
    for separations in found {
        bytes.separations(separations, out)?;
    }
    match &view.known {
        Known::None => bytes.number(NONE),
        Known::Early(early) => {
            bytes.number(EARLY);
            bytes.number(early.len() as u64);
            for ([x, y], p) in *early {
                bytes.vertex(*x);
                bytes.vertex(*y);
                bytes.number(p.to_bits());
                bytes.pass(out)?;
            }
        }
        Known::Cells(cells) => match cells.pairs() {
            None => {
                bytes.number(SQUARE);
                for (x, y) in (0..view.graph.p()).flat_map(|y| (0..y).map(move |x| (x, y))) {
                    bytes.number(cells.get(x, y).to_bits());
                    bytes.pass(out)?;
                }
            }
            Some(pairs) => {
                bytes.number(LEFT);
                bytes.graph(pairs.graph(), out)?;
                for at in 0..pairs.len() {
                    bytes.number(cells.at(at).to_bits());
                    bytes.pass(out)?;
                }
            }
        },
    }
    bytes.number(u64::from(view.within.is_some()));
    if let Some((mark, report, part)) = view.within {
        bytes.mark(mark, out)?;
        bytes.report(report);
        bytes.part(part, out)?;
    }
    bytes.flush(out)
}

/// Returns the bytes before a state: what the answer depends on, and the driver's counts.
pub(super) fn head(version: &str, asked: &[Asked], done: &State) -> Vec<u8> {
    let mut bytes = Writer::default();
    bytes.text(version);
    bytes.number(asked.len() as u64);
    for Asked { name, shown, digest } in asked {
        bytes.text(name);
        bytes.text(shown);
        bytes.0.extend_from_slice(&digest.to_le_bytes());
    }
    bytes.number(done.levels as u64);
    bytes.number(done.tests.len() as u64);
    done.tests.iter().for_each(|&tests| bytes.number(tests));
    bytes.number(done.exact_tests);
    bytes.number(u64::from(done.go_on));
    bytes.0
}

/// Reads the head of a file: its version, and what its answer depends on.
pub(super) fn read_head(bytes: &mut Reader) -> Option<(String, Vec<Asked>)> {
    let version = bytes.text()?.to_owned();
    let one = |bytes: &mut Reader| {
        let (name, shown) = (bytes.text()?.to_owned(), bytes.text()?.to_owned());
        Some(Asked { name, shown, digest: u128::from_le_bytes(bytes.take(16)?.try_into().ok()?) })
    };
    let asked = (0..bytes.count(18)?).map(|_| one(bytes)).collect::<Option<_>>()?;
    Some((version, asked))
}

/// Reads a state, and puts its p-values into `largest`. `None` if the bytes are not those of a state of this many variables.
pub(super) fn read_state(bytes: &mut Reader, options: &Options, largest: &mut Largest) -> Result<Option<State>> {
    let Some((mut state, found)) = counts_and_graph(bytes, options.p, options) else { return Ok(None) };
    let Some(found) = found else { return Ok(bytes.0.is_empty().then_some(state)) };
    state.found = Some(found);
    if !read_values(bytes, options, largest)?.is_some_and(|()| true) {
        return Ok(None);
    }
    Ok(read_within(bytes, options.p, &mut state).filter(|()| bytes.0.is_empty()).map(|()| state))
}

/// Reads the driver's counts.
pub(super) fn read_done(bytes: &mut Reader) -> Option<State> {
    let levels = bytes.index()?;
    let tests = (0..bytes.count(8)?).map(|_| bytes.number()).collect::<Option<Vec<u64>>>()?;
    let (exact_tests, go_on) = (bytes.number()?, bytes.flag()?);
    Some(State { levels, tests, exact_tests, go_on, found: None, within: None })
}

fn counts_and_graph(bytes: &mut Reader, p: usize, options: &Options) -> Option<(State, Option<Found>)> {
    let state = read_done(bytes)?;
    let levels = state.levels;
    (levels <= p && state.tests.len() == levels).then_some(())?;
    if bytes.0.is_empty() {
        return (levels == 0).then_some((state, None));
    }
    let (graph, is_exact) = (bytes.graph(p)?, bytes.flag()?);
    let empty = bytes.graph(p)?;
    let starts = bytes.words()?;
    let ascends = starts.windows(2).all(|two| two[0] <= two[1]);
    (ascends && (starts.is_empty() || starts.len() == p + 1 && starts[0] == 0)).then_some(())?;
    let count = starts.last().copied().unwrap_or(0);
    let records = (0..bytes.fits(usize::try_from(count).ok()?, 8)?)
        .map(|_| Some([bytes.below(p)?, bytes.below(p)?]))
        .collect::<Option<Vec<_>>>()?;
    let found = (0..bytes.count(16)?).map(|_| bytes.separations(p)).collect::<Option<Vec<_>>>()?;
    let sepsets = SepSetLog::of_parts(empty, options.empty_side(), Singles { starts, records }, found);
    Some((state, Some(Found { levels, graph, sepsets, is_exact })))
}

fn read_values(bytes: &mut Reader, options: &Options, largest: &mut Largest) -> Result<Option<()>> {
    let p = options.p;
    Ok(match (bytes.number(), largest) {
        (Some(NONE), _) => Some(()),
        (Some(SQUARE), Largest::Square(cells)) => bytes.doubles(p * (p - 1) / 2).map(|values| {
            cells.fill(options.untested());
            let upper = (0..p).flat_map(|y| (0..y).map(move |x| y * p + x));
            upper.zip(values).for_each(|(at, value)| cells[at] = value);
        }),
        (Some(LEFT), Largest::Left(left)) => match bytes.graph(p) {
            None => None,
            Some(graph) => {
                let count = graph.edge_count();
                match bytes.doubles(count).map(Iterator::collect) {
                    None => None,
                    Some(values) => Some(left.restore(graph, values)?),
                }
            }
        },
        (Some(EARLY), Largest::Left(left)) => bytes.early(p).map(|early| left.restore_early(early)),
        _ => None,
    })
}

fn read_within(bytes: &mut Reader, p: usize, state: &mut State) -> Option<()> {
    if !bytes.flag()? {
        return Some(());
    }
    let mark = if bytes.flag()? {
        let (graph, values) = (bytes.graph(p)?, bytes.words()?);
        (values.is_empty() || values.len() == graph.edge_count()).then_some(())?;
        Some(Mark { graph, values: values.into_iter().map(f64::from_bits).collect() })
    } else {
        None
    };
    let report = LevelReport { tests: bytes.number()?, exact_tests: bytes.number()?, go_on: bytes.flag()? };
    let part = bytes.part(p)?;
    // It must be possible to undo a level with conditioning sets.
    (mark.is_some() || matches!(part, Part::Columns(_)) && state.levels == 0).then_some(())?;
    state.within = Some(Within { mark, report, part });
    Some(())
}

impl<'a> Reader<'a> {
    fn doubles(&mut self, count: usize) -> Option<impl Iterator<Item = f64> + 'a> {
        let values = self.take(count.checked_mul(8)?)?.chunks_exact(8);
        Some(values.map(|value| f64::from_le_bytes(value.try_into().unwrap_or_default())))
    }

    fn answers(&mut self) -> Option<Answers> {
        let mut answers = Answers { shard: self.number()?, of_pairs: Vec::new() };
        for _ in 0..self.count(52)? {
            let (row, at, separates) = (self.vertex()?, self.index()?, self.flag()?);
            let (rank, p, exact_tests) = (self.number()?, self.float()?, self.number()?);
            let verdict = if separates { Verdict::Independent { rank, p } } else { Verdict::Dependent { rank, p } };
            answers.of_pairs.push(PairAnswer { row, at, verdict, set: self.vertices()?, exact_tests });
        }
        Some(answers)
    }

    fn flag(&mut self) -> Option<bool> {
        [false, true].get(self.index()?).copied()
    }

    fn words(&mut self) -> Option<Vec<u64>> {
        (0..self.count(8)?).map(|_| self.number()).collect()
    }

    /// Reads a vertex below p.
    fn below(&mut self, p: usize) -> Option<u32> {
        self.vertex().filter(|&vertex| (vertex as usize) < p)
    }

    fn graph(&mut self, p: usize) -> Option<Adjacency> {
        let form = self.number()?;
        self.fits(p, if form == BITS { 8 } else { 4 })?;
        let mut graph = if form == GAPS { Adjacency::complete(p) } else { Adjacency::empty(p) };
        for x in 0..p {
            match form {
                BITS => {
                    for w in x / 64..p.div_ceil(64) {
                        let mut word = self.number()?;
                        if w == x / 64 {
                            // Edges to smaller vertices are already read.
                            word &= !0 << (x % 64) << 1;
                        }
                        while word != 0 {
                            let y = w * 64 + word.trailing_zeros() as usize;
                            word &= word - 1;
                            (y < p).then(|| graph.insert(x, y))?;
                        }
                    }
                }
                PAIRS => {
                    for y in self.vertices()? {
                        ((y as usize) > x && (y as usize) < p).then(|| graph.insert(x, y as usize))?;
                    }
                }
                GAPS => {
                    for y in self.vertices()? {
                        ((y as usize) > x && (y as usize) < p).then(|| graph.remove(x, y as usize))?;
                    }
                }
                _ => return None,
            }
        }
        Some(graph)
    }

    fn separations(&mut self, p: usize) -> Option<Separations> {
        let size = self.index().filter(|&size| size < p)?;
        let count = self.count(8 + 4 * size)?;
        let mut found = Separations::of_size(size);
        for _ in 0..count {
            found.pairs.push([self.below(p)?, self.below(p)?]);
            for _ in 0..size {
                found.members.push(self.below(p)?);
            }
        }
        Some(found)
    }

    fn early(&mut self, p: usize) -> Option<Vec<([u32; 2], f64)>> {
        (0..self.count(16)?).map(|_| Some(([self.below(p)?, self.below(p)?], f64::from_bits(self.number()?)))).collect()
    }

    fn part(&mut self, p: usize) -> Option<Part> {
        Some(match self.number()? {
            COLUMNS => {
                let one = |bytes: &mut Self| {
                    let y = bytes.index().filter(|&y| y < p)?;
                    let (separated, kept, values) = (bytes.words()?, bytes.words()?, bytes.words()?);
                    let fits = [&separated, &kept].iter().all(|bits| bits.len() == y / 64 + 1);
                    (fits && (values.is_empty() || values.len() == y)).then_some(())?;
                    Some(DoneColumn { y, separated, kept, values: values.into_iter().map(f64::from_bits).collect() })
                };
                Part::Columns((0..self.count(40)?).map(|_| one(self)).collect::<Option<_>>()?)
            }
            SHARDS => {
                let second = if self.flag()? { Some(self.graph(p)?) } else { None };
                let rows = self.index()?..self.index()?;
                let (shard_tests, threads, sides_at_once) = (self.number()?, self.index()?, self.index()?);
                let (tests, exact_tests) = (self.number()?, self.number()?);
                let numbers = self.words()?.into_iter().map(|number| number as usize).collect();
                let separations = self.separations(p)?;
                let mut pieces = Vec::new();
                for _ in 0..self.count(16)? {
                    pieces.push(self.answers()?);
                }
                (threads > 0 && shard_tests > 0 && sides_at_once > 0).then_some(())?;
                let cut = Cut { shard_tests, threads, sides_at_once };
                Part::Shards(DoneShards { second, rows, cut, numbers, separations, tests, exact_tests, pieces })
            }
            VISITS => Part::Visits { number: self.number()?, rank: self.number()? },
            _ => return None,
        })
    }
}
