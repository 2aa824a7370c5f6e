//! Tests of results as flat arrays and back.

use super::*;
use crate::ci::gauss::{FisherZ, Reading};
use crate::graph::{Adjacency, SepSets, Side};
use crate::moments::{of_centred, Centred};

fn doubles(starts: &[u64]) -> Vec<f64> {
    starts.iter().map(|&start| start as f64).collect()
}

/// Separating sets as arrays: `start`, `to`, `set`, `p`, `ends` and `members`.
type Arrays = (Vec<f64>, Vec<i32>, Vec<u8>, Vec<u8>, Vec<f64>, Vec<i32>);

fn arrays(sepsets: &SepSets, pool: &Pool) -> Arrays {
    let sets = Sets::new(pool, sepsets).unwrap();
    let (mut to, mut set, mut p) = (vec![0; sets.count()], vec![0; sets.code_bytes()], vec![0; 8 * sets.count()]);
    let (mut ends, mut members) = (vec![f64::NAN; sets.large() + 1], vec![0; sets.members()]);
    let value = |x: usize, y: usize| (x + y != 3).then_some(1.0 / (1.0 + x as f64 + y as f64));
    let into = SetsMut { to: &mut to, set: &mut set, p: &mut p, ends: &mut ends, members: &mut members };
    sets.write(pool, &Values::Asked(&value), into).unwrap();
    (doubles(sets.starts()), to, set, p, ends, members)
}

/// Makes a graph on p vertices, and sets of all sizes for pairs without an edge. The last vertex has gaps to the others.
fn some(p: usize, side: Side) -> (Adjacency, SepSets) {
    let mut graph = Adjacency::empty(p);
    (1..p - 1).filter(|y| y % 3 == 1).for_each(|y| graph.insert(y - 1, y));
    let mut empty = Adjacency::empty(p);
    let mut listed = Vec::new();
    for y in 0..p - 1 {
        for x in (0..y).filter(|&x| !graph.has(x, y)) {
            match (x * 7 + y * 5) % 4 {
                0 => empty.insert(x, y),
                size => listed.push((x, y, (0..size as u32).map(|k| k * 2).collect::<Vec<u32>>())),
            }
        }
    }
    let mut sepsets = SepSets::of_empty(empty, side);
    for (at, (x, y, set)) in listed.into_iter().enumerate() {
        if at % 2 == 0 {
            sepsets.insert(x, y, &set);
        } else {
            sepsets.insert(y, x, &set);
        }
    }
    (graph, sepsets)
}

fn all(sepsets: &SepSets) -> Vec<(usize, usize, Option<Vec<u32>>)> {
    let p = sepsets.p();
    let get = |x: usize, y: usize| (x, y, sepsets.get(x, y).map(<[u32]>::to_vec));
    (0..p).flat_map(|x| (0..p).filter(move |&y| y != x).map(move |y| get(x, y))).collect()
}

#[test]
fn parts_cover_all_rows_in_order() {
    for counts in [vec![], vec![0, 0, 0], vec![1 << 20, 0, 3, 1 << 15, 1 << 15, 1], vec![1; 100_000]] {
        let starts = starts(counts.iter().copied());
        let parts = parts(&Pool::new(3), &starts);
        assert!(parts.iter().all(|part| !part.is_empty()));
        assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
        assert_eq!(parts.last().map_or(0, |part| part.end), counts.len());
    }
}

/// Checks single sets, and single p-values from a matrix, from its half and from data.
fn cells_are_those_of_whole_forms(flat: Flat, sepsets: &SepSets) {
    let (p, n) = (flat.p(), 12);
    let members = |set: Set| -> Vec<u32> {
        match set {
            Set::Empty => Vec::new(),
            Set::Single(member) => vec![member as u32 - 1],
            Set::Large(members, _) => members.iter().map(|&v| v as u32 - 1).collect(),
        }
    };
    for (x, y, set) in all(sepsets) {
        assert_eq!(flat.set(x, y).map(members), set, "{x} {y}");
    }
    let mut random = 1u64;
    let mut draw = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let mut data: Vec<f64> = (0..n * p).map(|_| draw()).collect();
    for column in data.chunks_mut(n) {
        let mean = column.iter().sum::<f64>() / n as f64;
        column.iter_mut().for_each(|cell| *cell -= mean);
    }
    let mut c = vec![0.0; p * p];
    of_centred(&Centred::of_cells(&data, n), &Pool::none(), &mut c, &mut |_| Ok(())).unwrap();
    let half: Vec<f64> = (1..p).flat_map(|y| c[y * p..][..y].to_vec()).collect();
    let reading = if flat.is_fast() { Reading::StableFast } else { Reading::GaussCItest };
    let test = FisherZ::new(n as f64, reading).unwrap();
    let mut whole = PMax::new(flat, test, Correlations::Matrix(&c)).unwrap();
    let mut cells = vec![f64::NAN; p * p];
    whole.fill(&mut cells, &Pool::new(2), &mut |_| Ok(())).unwrap();
    for of in [Correlations::Matrix(&c), Correlations::Triangle(&half), Correlations::Data(&data, n)] {
        whole = PMax::new(whole.flat, test, of).unwrap();
        let mut again = vec![f64::NAN; p * p];
        whole.fill(&mut again, &Pool::none(), &mut |_| Ok(())).unwrap();
        assert_eq!(again, cells);
        for (at, &cell) in cells.iter().enumerate() {
            let found = whole.get(at % p, at / p);
            assert_eq!(found.to_bits(), cell.to_bits(), "{at}: {found} {cell}");
        }
    }
    assert!(PMax::new(whole.flat, test, Correlations::Triangle(&c)).is_none());
}

#[test]
fn sets_are_read_back_and_broken_arrays_are_refused() {
    for (p, side) in [(3, Side::Smaller), (9, Side::Larger), (70, Side::Smaller), (200, Side::Larger)] {
        let (graph, sepsets) = some(p, side);
        let made = arrays(&sepsets, &Pool::none());
        assert_eq!(made.2, arrays(&sepsets, &Pool::new(3)).2);
        let (start, to, set, values, ends, members) = made;
        let edges: Vec<i32> = (0..p).flat_map(|x| graph.neighbours_above(x).map(|y| y as i32 + 1)).collect();
        let edge_start = doubles(&starts((0..p).map(|x| graph.degree_above(x) as u64)));
        // The last vertex has a gap to each other vertex.
        let gaps = vec![p as i32; p - 1];
        let gap_start: Vec<f64> = (0..p).chain([p - 1]).map(|start| start as f64).collect();
        let mark = vec![UNDIRECTED; edges.len()];
        let none = vec![0; 8 * p.max(edges.len())];
        let read = |to: &[i32], start: &[f64], mark: &[u8], ends: &[f64]| -> Result<(), Unreadable> {
            let given = Given {
                p,
                fast: matches!(side, Side::Larger),
                edges: Entries { start: &edge_start, to: &edges, p: &none[..8 * edges.len()] },
                mark,
                sets: Entries { start, to, p: &values },
                set: &set,
                ends,
                members: &members,
                gaps: Entries { start: &gap_start, to: &gaps, p: &none[..8 * gaps.len()] },
            };
            let flat = Flat::new(given, &Pool::new(3))?;
            assert!(flat.graph(&Pool::new(3)).is_ok_and(|read| read.to_lists() == graph.to_lists()));
            assert_eq!(all(&flat.sepsets(&graph, &Pool::new(3)).unwrap()), all(&sepsets), "p = {p}");
            for (x, y, set) in all(&sepsets).into_iter().filter(|(_, _, set)| set.as_ref().is_some_and(|s| s.len() > 1))
            {
                let value = flat.removed(x, y).unwrap();
                let wanted = if x + y == 3 { na() } else { 1.0 / (1.0 + x as f64 + y as f64) };
                assert_eq!(value.to_bits(), wanted.to_bits(), "{x} {y} {set:?}");
            }
            cells_are_those_of_whole_forms(flat, &sepsets);
            Ok(())
        };
        read(&to, &start, &mark, &ends).unwrap();
        let part = |found: Result<(), Unreadable>| match found {
            Err(Unreadable::Part(part)) => part,
            other => panic!("{other:?}"),
        };
        assert_eq!(part(read(&to, &start[1..], &mark, &ends)), "sets");
        assert_eq!(part(read(&to, &start, &[mark.as_slice(), &[1]].concat(), &ends)), "edges");
        assert_eq!(part(read(&to, &start, &vec![CONFLICT + 1; mark.len()], &ends)), "edges");
        assert_eq!(part(read(&to, &start, &mark, &[])), "sets");
        if let Some((_, others)) = to.split_last() {
            assert_eq!(part(read(&[others, &[p as i32 + 1]].concat(), &start, &mark, &ends)), "sets");
        }
    }
}
