//! The problem of one row: the row, its neighbours, and the correlations that it needs.

use super::super::{Coarse, GaussKernel};
use super::GaussOfData;
use crate::ci::gauss::Gauss;
use crate::engine::LevelOne;
use crate::graph::Adjacency;
use crate::memory::{self, Use};
use crate::moments::{Gathered, Tiles};
use crate::pool::Stop;
use crate::search::level::{Neighbours, PairSide};

/// A row and its neighbours, renumbered in their order, so that sets keep their ranks; and correlations among them.
#[derive(Default)]
pub(super) struct Problem {
    /// The variables.
    pub members: Vec<u32>,
    /// The place of the row among them.
    pub at: u32,
    /// Number of members that are the row or in its list. Other vertices of its pairs, outside the list, follow in ascending order.
    listed: usize,
    pub neighbours: Option<Neighbours>,
    /// The members that have a column, by new number; and for each member, which column. Both are empty if all have one.
    with_column: Vec<u32>,
    places: Vec<u32>,
    pub c: Vec<f64>,
}

/// The correlations that a row needs.
pub(super) enum Wanted<'w> {
    /// All among the row and its neighbours.
    All,
    /// Those of its lanes with all members, because sets have one variable. Lanes are places in the row's list, or after it if outside.
    Lanes(&'w [u32]),
}

impl Problem {
    /// Lays out the row's problem, without its correlations. `outside`: other vertices of its pairs that are not in its list, ascending.
    /// `by_graph`: whether the order of candidates depends on which vertices are adjacent.
    pub fn lay_out(&mut self, of: &Neighbours, row: usize, wanted: &Wanted, outside: &[u32], by_graph: bool) {
        let list = of.list(row);
        self.at = of.place(row, row);
        self.members.clear();
        self.members.extend_from_slice(&list[..self.at as usize]);
        self.members.push(row as u32);
        self.members.extend_from_slice(&list[self.at as usize..]);
        self.listed = self.members.len();
        let d = self.listed;
        self.neighbours = Some(match by_graph {
            false => Neighbours::of_star(d, self.at as usize),
            true => {
                let mut small = Adjacency::empty(d);
                for (v, &of_v) in self.members.iter().enumerate() {
                    for (u, &of_u) in self.members[..v].iter().enumerate() {
                        if of.adjacent(of_u as usize, of_v as usize) {
                            small.insert(u, v);
                        }
                    }
                }
                Neighbours::of(small)
            }
        });
        self.members.extend_from_slice(outside);
        self.with_column.clear();
        self.places.clear();
        if let Wanted::Lanes(places) = wanted {
            self.with_column.push(self.at);
            let at = self.at;
            self.with_column.extend(places.iter().map(|&place| number(at, place)));
            self.places.resize(self.members.len(), u32::MAX);
            for (i, &v) in self.with_column.iter().enumerate() {
                self.places[v as usize] = i as u32;
            }
        }
    }

    /// Returns a side of the row as a side of the problem.
    pub fn side(&self, side: &PairSide) -> PairSide {
        let other = match side.is_outside() {
            false => number(self.at, side.place),
            true => (self.listed + self.members[self.listed..].partition_point(|&member| member < side.other)) as u32,
        };
        PairSide { row: self.at, other, ..*side }
    }

    /// Returns the bytes of the correlations of a row with this many neighbours, for this many lanes, or for all members if `None`.
    pub fn bytes(neighbours: usize, lanes: Option<usize>) -> usize {
        let d = neighbours + 1;
        size_of::<f64>() * d * lanes.map_or(d, |lanes| lanes + 1)
    }

    fn cells(&self) -> usize {
        self.members.len() * if self.is_whole() { self.members.len() } else { self.with_column.len() }
    }

    /// Makes space for the correlations. Returns `false` if there is none.
    pub fn reserve(&mut self) -> bool {
        let cells = self.cells();
        self.c.truncate(cells);
        memory::grow(&mut self.c, cells, 0.0, Use::Correlations)
    }

    /// Computes the correlations. Lanes get those with the row and with the members before the number `end`. Returns `false` if there is no
    /// space.
    pub fn make(&mut self, tiles: &Tiles, end: usize, gathered: &mut Gathered, stop: &Stop) -> bool {
        let d = self.members.len();
        if !self.reserve() {
            return false;
        }
        if self.is_whole() {
            tiles.among(&self.members, &mut self.c, gathered, stop);
            return true;
        }
        let of: Vec<u32> = self.with_column.iter().map(|&v| self.members[v as usize]).collect();
        tiles.between(&self.members, &of[..1], &mut self.c, d, gathered, stop);
        let (row, lanes) = self.c.split_at_mut(d);
        tiles.between(&self.members[..end.min(d)], &of[1..], lanes, d, gathered, stop);
        for (column, &lane) in lanes.chunks_exact_mut(d).zip(&self.with_column[1..]) {
            column[self.at as usize] = row[lane as usize];
            column[lane as usize] = 1.0;
        }
        true
    }

    /// Returns whether all variables have a column.
    pub fn is_whole(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the kernel that decides the row.
    pub fn kernel<'p>(&'p self, engine: &GaussOfData) -> GaussKernel<'p> {
        GaussKernel {
            gauss: Gauss::of_part(&self.c, self.members.len(), &self.places, engine.test),
            thresholds: engine.thresholds.clone(),
            coarse: Coarse::new(0),
            level_one: LevelOne::Lists,
        }
    }

    /// Writes a set of the problem as variables.
    pub fn named(&self, set: &[u32], out: &mut Vec<u32>) {
        out.clear();
        out.extend(set.iter().map(|&v| self.members[v as usize]));
    }
}

/// Returns the new number of the neighbour at a place of the row's list, if the row has the new number `at`.
fn number(at: u32, place: u32) -> u32 {
    place + u32::from(place >= at)
}
