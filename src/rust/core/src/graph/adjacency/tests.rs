use super::*;
use crate::graph::Ranked;

#[test]
fn the_lower_triangle_is_mirrored() {
    for p in [1usize, 2, 63, 64, 65, 200] {
        let edge = |x: usize, y: usize| (x * 7919 + y * 104_729) % 3 == 0;
        let graph = Adjacency::from_lower(p, |y, w| {
            (0..64).filter(|b| w * 64 + b < y && edge(w * 64 + b, y)).map(|b| 1u64 << b).sum()
        });
        for x in 0..p {
            for y in 0..p {
                assert_eq!(graph.has(x, y), x != y && edge(x.min(y), x.max(y)), "{p}: {x}, {y}");
            }
        }
    }
}

#[test]
fn a_half_is_mirrored_whatever_is_in_the_other() {
    for p in [1usize, 2, 63, 64, 65, 200] {
        let edge = |x: usize, y: usize| (x * 7919 + y * 104_729) % 3 == 0;
        for half in [Half::Lower, Half::Upper] {
            let word = |x: usize, w: usize| {
                let is_its = |y: usize| if half == Half::Upper { y > x } else { y < x };
                let is_set = |y: usize| y < p && if is_its(y) { edge(x.min(y), x.max(y)) } else { (x + y) % 2 == 0 };
                (0..64).filter(|b| is_set(64 * w + b)).map(|b| 1u64 << b).sum::<u64>()
            };
            let rows: Vec<u64> = (0..p).flat_map(|x| (0..p.div_ceil(64)).map(move |w| word(x, w))).collect();
            for threads in [1, 3] {
                let graph = Adjacency::from_half(p, &rows, half, &Pool::new(threads)).unwrap();
                for x in 0..p {
                    for y in 0..p {
                        assert_eq!(graph.has(x, y), x != y && edge(x.min(y), x.max(y)), "{p}: {x}, {y}");
                    }
                    assert_eq!(graph.degree_above(x), graph.neighbours_above(x).count());
                }
            }
        }
    }
}

#[test]
fn neighbours_are_those_of_their_range() {
    for p in [1usize, 2, 63, 64, 65, 128, 200] {
        let mut graph = Adjacency::empty(p);
        for x in 0..p {
            // Some rows are full, some words empty.
            let is_edge = |y: &usize| x % 5 == 0 || (x * 7919 + y * 104_729) % 61 == 0;
            (x + 1..p).filter(is_edge).for_each(|y| graph.insert(x, y));
        }
        for x in 0..p {
            let within =
                |range: Range<usize>| -> Vec<u32> { range.filter(|&y| graph.has(x, y)).map(|y| y as u32).collect() };
            assert_eq!(graph.neighbours(x).collect::<Vec<_>>(), within(0..p));
            assert_eq!(graph.neighbours_above(x).collect::<Vec<_>>(), within(x + 1..p));
            for (from, to) in (0..=p).flat_map(|from| [from, from + 1, from + 64, p, 70].map(|to| (from, to.min(p)))) {
                assert_eq!(graph.neighbours_between(x, from..to).collect::<Vec<_>>(), within(from..to), "{from} {to}");
            }
        }
    }
}

#[test]
fn all_rows_are_taken_as_they_are() {
    for p in [1usize, 64, 65, 130] {
        let graph = Adjacency::from_lower(p, |y, w| if w == y / 64 { (1 << (y % 64)) - 1 } else { !0 } & 0x5555_5555);
        let bits = (0..p).flat_map(|x| graph.bit_row(x).to_vec()).collect();
        assert_eq!(Adjacency::from_rows(p, bits), graph);
    }
}

#[test]
fn complete_graph_has_all_pairs_and_no_loops() {
    for p in [2, 3, 63, 64, 65, 130] {
        let graph = Adjacency::complete(p);
        assert_eq!(graph.edge_count(), p * (p - 1) / 2);
        assert!((0..p).all(|x| !graph.has(x, x) && graph.degree(x) == p - 1));
    }
}

#[test]
fn insert_and_remove_are_symmetric_and_lists_are_sorted() {
    let mut graph = Adjacency::empty(100);
    graph.insert(70, 3);
    graph.insert(70, 99);
    graph.insert(70, 64);
    assert!(graph.has(3, 70) && graph.has(70, 3));
    assert_eq!(graph.neighbours(70).collect::<Vec<_>>(), [3, 64, 99]);
    graph.remove(64, 70);
    assert_eq!(graph.neighbours(70).collect::<Vec<_>>(), [3, 99]);
    assert_eq!(Adjacency::from_lists(&graph.to_lists()), graph);
    graph.insert(70, 64);
    graph.insert(70, 10);
    graph.insert(3, 64);
    assert_eq!(graph.at_distance_two(10), [3, 64, 99]);
    assert_eq!(graph.at_distance_two(64), [10, 99]);
}

/// Returns a graph with these edges in each form: bits, lists of neighbours, and lists of the others.
fn in_each_form(p: usize, edge: impl Fn(usize, usize) -> bool) -> [Adjacency; 3] {
    let below = |y: usize, is_listed: bool| -> Vec<u32> {
        (0..y).filter(|&x| edge(x, y) == is_listed).map(|x| x as u32).collect()
    };
    let mut bits = Adjacency::empty_as(p, Form::Bits);
    (0..p).for_each(|y| below(y, true).into_iter().for_each(|x| bits.insert(x as usize, y)));
    let lists = |is_listed: bool| (0..p).map(|y| below(y, is_listed)).collect();
    [bits, Adjacency::from_lower_lists(lists(true), false), Adjacency::from_lower_lists(lists(false), true)]
}

#[test]
fn all_forms_are_the_same_graph() {
    for p in [1usize, 2, 63, 64, 65, 200] {
        let edge = |x: usize, y: usize| (x.min(y) * 7919 + x.max(y) * 104_729) % 7 < 2 || x + y == p;
        let [bits, mut lists, mut others] = in_each_form(p, edge);
        for step in 0..2 {
            for graph in [&lists, &others] {
                assert!(graph == &bits && graph.edge_count() == bits.edge_count(), "{p}");
                assert!(Ranked::new(graph.clone(), &Pool::none()).unwrap().len() == bits.edge_count());
                for x in 0..p {
                    let of = |graph: &Adjacency| {
                        let words: Vec<_> = graph.words_of(x).collect();
                        let gaps: Vec<_> = graph.gaps_of(x).collect();
                        let above: Vec<_> = graph.neighbours_above(x).collect();
                        (words, gaps, above, graph.degree(x), graph.degree_above(x), graph.at_distance_two(x))
                    };
                    assert_eq!(of(graph), of(&bits), "{p}: {x}");
                    for y in 0..p {
                        assert_eq!(graph.has(x, y), bits.has(x, y));
                        assert_eq!(graph.common(x, y), bits.common(x, y));
                        assert_eq!(graph.row(x).count_below(y), bits.row(x).count_below(y));
                        let within = |graph: &Adjacency| graph.neighbours_between(x, x.min(y)..y).collect::<Vec<_>>();
                        assert_eq!(within(graph), within(&bits), "{p}: {x} to {y}");
                    }
                    for w in 0..p.div_ceil(64) {
                        assert_eq!(graph.row(x).word(w), bits.row(x).word(w));
                    }
                }
                assert_eq!(graph.clone().complement(&Pool::none()), bits.clone().complement(&Pool::new(2)));
            }
            if step == 0 {
                let mut changed = bits.clone();
                for graph in [&mut changed, &mut lists, &mut others] {
                    (1..p).filter(|x| x % 3 == 0).for_each(|x| graph.remove(x, x / 2));
                    graph.insert_all(&Pool::new(2), p, |x, insert| (x + 1..p.min(x + 3)).for_each(|y| insert(y, x)));
                }
                assert!(changed == lists && changed == others, "{p}");
                let same = in_each_form(p, |x, y| changed.has(x, y));
                assert_eq!(same[0], changed);
                (lists, others) = (same[1].clone(), same[2].clone());
                if p > 2 {
                    assert_ne!(changed, bits);
                }
                return_to(&mut lists, &bits);
                return_to(&mut others, &bits);
            }
        }
    }
}

/// Makes the edges of a graph those of another.
fn return_to(graph: &mut Adjacency, wanted: &Adjacency) {
    for (x, y) in (0..wanted.p()).flat_map(|x| (0..x).map(move |y| (x, y))) {
        match wanted.has(x, y) {
            true => graph.insert(x, y),
            false => graph.remove(x, y),
        }
    }
}
