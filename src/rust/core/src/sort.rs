//! Sorting by small whole numbers.

/// Sorts items by a key below `keys`, keeping the order of equal ones; `spare` is memory to work in.
pub(crate) fn counting_sort<T: Copy>(items: &mut [T], spare: &mut Vec<T>, keys: usize, key: impl Fn(&T) -> usize) {
    let mut ends = vec![0usize; keys + 1];
    for item in items.iter() {
        ends[key(item) + 1] += 1;
    }
    for k in 0..keys {
        ends[k + 1] += ends[k];
    }
    spare.clear();
    spare.extend_from_slice(items);
    for item in items.iter() {
        let at = &mut ends[key(item)];
        spare[*at] = *item;
        *at += 1;
    }
    items.copy_from_slice(spare);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_keep_their_order() {
        let mut items = [(3, 'a'), (0, 'b'), (3, 'c'), (1, 'd'), (0, 'e')];
        counting_sort(&mut items, &mut Vec::new(), 4, |item| item.0);
        assert_eq!(items, [(0, 'b'), (0, 'e'), (1, 'd'), (3, 'a'), (3, 'c')]);
    }
}
