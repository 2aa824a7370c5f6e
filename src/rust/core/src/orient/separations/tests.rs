use super::super::triples::each_unshielded;
use super::*;

fn unshielded(skeleton: &Adjacency) -> Vec<[u32; 3]> {
    let mut triples = Vec::new();
    let push = |triple| {
        triples.push(triple);
        Ok(())
    };
    each_unshielded(skeleton, &Poll::silent(), push).unwrap();
    triples
}

/// Returns the censuses by triple, in pcalg's order.
fn in_turn(skeleton: &Adjacency, alpha: f64, test: &mut dyn CiTest) -> Result<Vec<Census>> {
    let poll = Poll::silent();
    unshielded(skeleton)
        .into_iter()
        .map(|triple| ask_in_turn(triple, (skeleton, &Knowledge::default()), alpha, test, &poll))
        .collect()
}

/// Returns the censuses by triple in pcalg's order, from questions asked by blocks of pairs.
fn in_blocks(most: usize, skeleton: &Adjacency, alpha: f64, test: &mut dyn CiTest) -> Result<Vec<Census>> {
    let mut found = Vec::new();
    let poll = Poll::silent();
    let knowledge = Knowledge::default();
    let mut asker = Asker::new((skeleton, &knowledge), alpha, test, &poll);
    asker.most = most;
    asker.each_pair(|[a, c], separating, middles| {
        found.extend(middles.iter().map(|&(b, with_b)| ([b, a, c], Census { separating, with_b })));
        Ok(())
    })?;
    assert!(found.is_sorted_by_key(|([b, a, c], _)| [*a, *c, *b]));
    found.sort_by_key(|(triple, _)| *triple);
    let triples: Vec<_> = found.iter().map(|&([b, a, c], _)| [a, b, c]).collect();
    assert_eq!(triples, unshielded(skeleton));
    Ok(found.into_iter().map(|(_, census)| census).collect())
}

struct Recorder {
    batch_size: usize,
    asked: Vec<(usize, usize, Vec<u32>)>,
}

impl CiTest for Recorder {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        self.asked.push((x, y, s.to_vec()));
        let mix = s.iter().fold(7 * x + 3 * y, |h, &v| (h * 31 + v as usize) % 101);
        Ok((mix % 10) as f64 / 10.0)
    }
    fn batch_size(&self) -> usize {
        self.batch_size
    }
}

fn graph() -> Adjacency {
    let lists: [&[u32]; 6] = [&[2, 3, 4], &[2, 3, 5], &[5], &[], &[5], &[]];
    Adjacency::from_lists(&lists)
}

#[test]
fn one_question_at_a_time_is_pcalgs_order() {
    let mut test = Recorder { batch_size: 1, asked: Vec::new() };
    let lists: [&[u32]; 4] = [&[1, 2], &[3], &[], &[]];
    let (graph, knowledge) = (Adjacency::from_lists(&lists), Knowledge::default());
    ask_in_turn([0, 1, 3], (&graph, &knowledge), 0.5, &mut test, &Poll::silent()).unwrap();
    let sets: Vec<_> = test.asked.iter().map(|(_, _, s)| s.as_slice()).collect();
    assert_eq!(sets, [&[][..], &[1], &[2], &[1, 2], &[], &[1]]);
}

#[test]
fn batches_and_blocks_count_what_single_questions_count() {
    for seed in 0..40 {
        let graph = if seed == 0 { graph() } else { random_graph(seed) };
        let mut single = Recorder { batch_size: 1, asked: Vec::new() };
        let expected = in_turn(&graph, 0.5, &mut single).unwrap();
        for (most, batch_size) in [(1, 2), (3, 5), (40, 1000), (usize::MAX, 7), (usize::MAX, 1000)] {
            let mut test = Recorder { batch_size, asked: Vec::new() };
            assert_eq!(in_blocks(most, &graph, 0.5, &mut test).unwrap(), expected, "{seed} {most}");
            let asked = test.asked.len();
            test.asked.sort();
            test.asked.dedup();
            assert!(asked == test.asked.len() && (asked < single.asked.len() || asked == 0));
        }
    }
}

fn random_graph(seed: u64) -> Adjacency {
    let mut state = seed;
    let mut graph = Adjacency::empty(9);
    for (x, y) in (0..9).flat_map(|y| (0..y).map(move |x| (x, y))) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 60 < 2 + seed % 8 {
            graph.insert(x, y);
        }
    }
    graph
}

/// A test without an answer to some questions: NaN, or an error that names the first one in the batch.
struct Missing {
    batch_size: usize,
    salt: usize,
    raises: bool,
}

impl CiTest for Missing {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let mix = s.iter().fold(x + 9 * y + self.salt, |h, &v| (h * 37 + v as usize) % 1009);
        if mix % 11 > 0 {
            return Ok((mix % 10) as f64 / 10.0);
        }
        let reason = "missing value where TRUE/FALSE needed; the conservative and the majority rule need every p-value";
        if self.raises {
            Err(Error::Numeric { x, y, s: s.to_vec(), reason })
        } else {
            Ok(f64::NAN)
        }
    }
    fn batch_size(&self) -> usize {
        self.batch_size
    }
}

#[test]
fn the_question_without_an_answer_is_the_one_at_which_pcalg_stops() {
    let mut failed = 0;
    for seed in 1..60 {
        let graph = random_graph(seed);
        let salt = seed as usize;
        let expected = in_turn(&graph, 0.5, &mut Missing { batch_size: 1, salt, raises: false });
        failed += usize::from(expected.is_err());
        for (most, batch_size) in [(1, 2), (5, 3), (usize::MAX, 4), (usize::MAX, 1000)] {
            for raises in [false, true] {
                let found = in_blocks(most, &graph, 0.5, &mut Missing { batch_size, salt, raises });
                assert_eq!(found, expected, "{seed} {most} {batch_size} {raises}");
            }
        }
    }
    assert!((10..59).contains(&failed), "{failed}");
}

#[test]
fn a_missing_p_value_and_a_hub_are_errors() {
    let mut missing = Missing { batch_size: 1, salt: 2, raises: false };
    let found = ask_in_turn([0, 2, 1], (&graph(), &Knowledge::default()), 0.5, &mut missing, &Poll::silent());
    assert!(matches!(found, Err(Error::Numeric { x: 0, y: 1, .. })));
    // Vertex 0 has 63 neighbours, one of which has a neighbour of its own: 0 is an end of a triple.
    let mut star = Adjacency::empty(65);
    (1..64).for_each(|leaf| star.insert(0, leaf));
    assert_eq!(refuse_too_many(&star, &Knowledge::default(), &Poll::silent()), Ok(()));
    star.insert(63, 64);
    let found = refuse_too_many(&star, &Knowledge::default(), &Poll::silent());
    assert!(matches!(found, Err(Error::Argument { argument: "conservative", .. })));
}
