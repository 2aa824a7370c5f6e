use super::*;

#[test]
fn a_log_in_any_order_gives_the_same_sets() {
    let mut log = SepSetLog::new(5, Side::Larger);
    log.insert(4, 2, &[3, 0]);
    log.insert_empty(0, 1);
    log.insert(4, 0, &[2]);
    log.insert(3, 1, &[0]);
    let sets = log.finish(&Pool::none()).unwrap();
    assert_eq!(sets.row(4).collect::<Vec<_>>(), [(0, &[2][..]), (2, &[3, 0][..])]);
    assert_eq!((sets.get(3, 1), sets.get(1, 0), sets.get(0, 1)), (Some(&[0][..]), Some(&[][..]), None));
}

#[test]
fn singles_in_a_block_are_singles_one_by_one() {
    let p = 300u32;
    let of = |x: u32| (0..x % 7).map(move |i| [x + 3 * i + 1, (x + i) % p]).filter(move |[y, _]| *y < p);
    let mut one_by_one = SepSetLog::new(p as usize, Side::Smaller);
    let mut log = SepSetLog::new(p as usize, Side::Smaller);
    let mut singles = Singles { starts: vec![0], records: Vec::new() };
    for x in 0..p {
        for [y, member] in of(x) {
            one_by_one.insert(x as usize, y as usize, &[member]);
            singles.records.push([y, member]);
        }
        singles.starts.push(singles.records.len() as u64);
    }
    log.set_singles(singles);
    for log in [&mut one_by_one, &mut log] {
        log.insert(60, 1, &[1, 2]);
        log.insert_empty(60, 62);
        log.insert_empty(61, 59);
    }
    let (one_by_one, mut sets) = (one_by_one.finish(&Pool::none()).unwrap(), log.finish(&Pool::new(2)).unwrap());
    for x in 0..p as usize {
        let listed: Vec<_> = sets.listed(x).collect();
        let singles = sets.only_singles(x).map(|all| all.iter().map(|one| (one[0], &one[1..])).collect::<Vec<_>>());
        assert!(singles.is_none_or(|singles| x != 60 && singles == listed), "row {x}");
        assert!(sets.row(x).eq(one_by_one.row(x)), "row {x}");
        assert!((0..p as usize).all(|y| sets.get(x, y) == one_by_one.get(x, y)), "row {x}");
    }
    // One entry is replaced.
    let [y, _] = of(61).next().unwrap();
    sets.insert(61, y as usize, &[3, 4, 5]);
    assert_eq!(sets.get(61, y as usize), Some(&[3, 4, 5][..]));
    assert_eq!(sets.row(61).filter(|(other, _)| *other == y).collect::<Vec<_>>(), [(y, &[3, 4, 5][..])]);
}

#[test]
fn entries_lie_on_their_side_and_are_replaced() {
    let mut sets = SepSets::new(5, Side::Smaller);
    sets.insert_empty(3, 1);
    sets.insert(4, 2, &[3, 0]);
    sets.insert(1, 2, &[0]);
    sets.insert(1, 2, &[4]);
    assert_eq!(sets.get(1, 3), Some(&[][..]));
    assert_eq!(sets.get(3, 1), None);
    assert_eq!(sets.get(4, 2), Some(&[3, 0][..]));
    assert!(sets.either_contains(2, 4, 0) && !sets.either_contains(2, 4, 1));
    assert_eq!(sets.row(1).collect::<Vec<_>>(), [(2, &[4][..]), (3, &[][..])]);
    sets.insert(1, 3, &[2]);
    assert_eq!(sets.row(1).collect::<Vec<_>>(), [(2, &[4][..]), (3, &[2][..])]);
}

#[test]
fn counts_show_that_all_pairs_are_separated_only_if_each_has_one_entry() {
    let graph = Adjacency::from_lists(&[vec![1], vec![], vec![], vec![]]);
    let mut log = SepSetLog::new(4, Side::Smaller);
    [(0, 2), (0, 3)].iter().for_each(|&(x, y)| log.insert_empty(x, y));
    log.insert(2, 1, &[0]);
    log.insert(1, 3, &[0, 2]);
    let almost = log.clone().finish(&Pool::none()).unwrap();
    let unseparated = almost.unseparated(&graph, &Pool::new(2)).unwrap();
    assert!(!almost.surely_separate_all(&graph) && unseparated.to_lists() == [vec![], vec![], vec![3], vec![2]]);
    log.insert(3, 2, &[1]);
    let mut all = log.finish(&Pool::none()).unwrap();
    assert!(all.surely_separate_all(&graph) && all.unseparated(&graph, &Pool::new(2)).unwrap().edge_count() == 0);
    all.insert(2, 3, &[0]);
    assert!(!all.surely_separate_all(&graph), "a pair may have two entries");
}
