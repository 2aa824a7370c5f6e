//! A list of vertices as bits, which meets the rows of a graph 64 vertices at a time.

use super::adjacency::{bits, Row};

/// The words of a bit row that hold vertices of a list. A short list has few words, however long the row is.
#[derive(Default)]
pub(crate) struct Packed(Vec<(usize, u64)>);

impl Packed {
    /// Replaces the list. The vertices must ascend.
    pub fn fill(&mut self, list: impl IntoIterator<Item = u32>) {
        self.0.clear();
        for v in list {
            let (w, bit) = (v as usize / 64, 1 << (v % 64));
            match self.0.last_mut() {
                Some((last, word)) if *last == w => *word |= bit,
                _ => self.0.push((w, bit)),
            }
        }
    }

    /// Returns the words, each with its place in a row.
    pub fn words(&self) -> &[(usize, u64)] {
        &self.0
    }

    /// Returns the vertices of the list that a row does not have, in ascending order.
    pub fn outside<'a>(&'a self, row: Row<'a>) -> impl Iterator<Item = usize> + 'a {
        self.0.iter().flat_map(move |&(w, word)| bits(w, word & !row.word(w))).map(|v| v as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_meets_a_row() {
        let mut list = Packed::default();
        list.fill([3, 63, 64, 200]);
        assert_eq!(list.words().len(), 3);
        let row = [1 << 63 | 1 << 5, 0, !0, 0];
        assert_eq!(list.outside(Row::Bits(&row)).collect::<Vec<_>>(), [3, 64, 200]);
        list.fill([]);
        assert_eq!(list.outside(Row::Bits(&row)).next(), None);
    }
}
