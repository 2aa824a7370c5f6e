//! Discrete data: level codes for each variable, and bit planes for variables with few levels.

use ndarray::ArrayView2;

use super::lent::Lent;
use super::lines::{self, Line};
use super::popcount::{self, Bits};
use crate::matrix;
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::{Error, Result};

/// The most levels for which a variable has bit planes; these then take no more memory than its codes.
const PLANE_LEVELS: u32 = 8;

/// The most levels that a variable can have.
pub const MOST_LEVELS: u32 = 65_535;

/// The codes 0, 1, ... of one variable, by sample. A missing value is coded as the number of levels.
#[derive(Clone, Debug)]
pub enum Codes {
    /// Up to 255 levels.
    Bytes(Vec<u8>),
    /// Up to [`MOST_LEVELS`] levels.
    Words(Vec<u16>),
}

impl Codes {
    pub(crate) fn len(&self) -> usize {
        match self {
            Codes::Bytes(codes) => codes.len(),
            Codes::Words(codes) => codes.len(),
        }
    }

    /// Returns the code of a sample.
    #[inline]
    pub fn at(&self, sample: usize) -> u32 {
        match self {
            Codes::Bytes(codes) => u32::from(codes[sample]),
            Codes::Words(codes) => u32::from(codes[sample]),
        }
    }
}

/// A discrete variable.
#[derive(Clone, Debug)]
pub struct Variable {
    levels: u32,
    codes: Codes,
    missing: bool,
    /// Plane after plane: bit i of plane v is set if sample i has level v. Empty if there are many levels.
    planes: Vec<Line>,
    /// The number of samples in each plane.
    counts: Vec<u32>,
}

/// n samples of p discrete variables.
#[derive(Clone, Debug)]
pub struct Coded {
    n: usize,
    variables: Vec<Variable>,
    /// Further variables, numbered after `variables`.
    lent: Lent,
    any_missing: bool,
}

impl Coded {
    /// Reads codes, n x p and column-major. `i32::MIN` (R's NA) is a missing value, and an error unless `na` is set. `levels` holds the
    /// number of levels of each variable, at least 1.
    ///
    /// # Errors
    ///
    /// Names the first column with a code outside 0, ..., levels - 1, or with a number of levels out of range.
    pub fn new(codes: ArrayView2<i32>, levels: &[u32], na: bool) -> Result<Self> {
        let variables = levels.iter().zip(matrix::columns(codes)).enumerate();
        Coded::of_columns(
            codes,
            levels.len(),
            variables.map(|(at, (&levels, codes))| Variable::new(at, levels, codes, na)),
        )
    }

    fn of_columns(codes: ArrayView2<i32>, p: usize, variables: impl Iterator<Item = Result<Variable>>) -> Result<Self> {
        let n = codes.nrows();
        if n == 0 || codes.ncols() != p || n > u32::MAX as usize {
            return Err(Error::Argument {
                argument: "suffStat$dm",
                value: format!("a matrix of {} codes for {p} variables", codes.len()),
                hint: "give a matrix with at least one row, and with one column for each variable".into(),
            });
        }
        let variables: Vec<Variable> = variables.collect::<Result<_>>()?;
        memory::check()?;
        let any_missing = variables.iter().any(|variable| variable.missing);
        Ok(Coded { n, variables, lent: Lent::default(), any_missing })
    }

    /// Reads codes as pcalg's users have them, otherwise as [`Coded::new`]. Without `declared`, a variable has as many levels as different
    /// codes. Codes with gaps (0, 2 and 5 for three levels) then stand for the levels in order. With `declared`, this applies to codes
    /// beyond the last level, if there are no more different codes than levels. `zero_elsewhere`: whether a variable that is not among
    /// these has the code 0.
    ///
    /// # Errors
    ///
    /// Those of [`Coded::new`], and pcalg's error if no code is 0: codes from 1 on are surely a mistake.
    pub fn of_any_codes(
        codes: ArrayView2<i32>,
        declared: Option<&[u32]>,
        na: bool,
        zero_elsewhere: bool,
        pool: &Pool,
    ) -> Result<Self> {
        let mut read = memory::space(codes.ncols(), Use::Codes)?;
        read.resize_with(codes.ncols(), || None);
        let parts: Vec<_> = matrix::columns(codes).zip(&mut read).collect();
        let work = |at, (column, read): (_, &mut Option<Column>)| *read = Some(Column::read(at, column, declared, na));
        match codes.len() {
            0..SMALL => Pool::none().each_of(parts, work),
            _ => pool.each_of(parts, work),
        }
        memory::check()?;
        let zero = zero_elsewhere || read.iter().flatten().any(|column| column.zero);
        if !zero && (declared.is_none() || read.iter().flatten().any(|column| column.past_the_last)) {
            return Err(Error::Argument {
                argument: "suffStat$dm",
                value: "has no code 0 ('dm' must have values in {0,1,..} with at least one '0' value)".into(),
                hint: "make `suffStat` with suff_discrete(), which codes the levels from 0".into(),
            });
        }
        Coded::of_columns(codes, read.len(), read.into_iter().flatten().map(|column| column.variable))
    }

    /// Makes data from variables.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if the variables do not all have n samples, or n is 0 or more than 2^32 - 1.
    pub fn of_variables(n: usize, variables: Vec<Variable>) -> Result<Self> {
        let fits = |variable: &Variable| variable.codes.len() == n;
        if n == 0 || n > u32::MAX as usize || !variables.iter().all(fits) {
            return Err(Error::Argument {
                argument: "n",
                value: n.to_string(),
                hint: "give the number of values of each variable, at least 1".into(),
            });
        }
        let any_missing = variables.iter().any(|variable| variable.missing);
        Ok(Coded { n, variables, lent: Lent::default(), any_missing })
    }

    /// Adds further variables, which arrive one by one. They have the same number of samples and no missing values; the first has the
    /// number p.
    pub fn with_lent(mut self, lent: Lent) -> Self {
        self.lent = lent;
        self
    }

    #[inline]
    fn variable(&self, v: usize) -> &Variable {
        match self.variables.get(v) {
            Some(variable) => variable,
            None => self.lent.get(v - self.variables.len()),
        }
    }

    /// Returns the number of samples.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of variables, without those in [`Lent`].
    pub fn p(&self) -> usize {
        self.variables.len()
    }

    /// Returns the number of levels of a variable.
    #[inline]
    pub fn levels(&self, v: usize) -> usize {
        self.variable(v).levels as usize
    }

    /// Returns the codes of a variable.
    #[inline]
    pub fn codes(&self, v: usize) -> &Codes {
        &self.variable(v).codes
    }

    /// Returns whether a value of the variable is missing.
    #[inline]
    pub fn missing(&self, v: usize) -> bool {
        self.variable(v).missing
    }

    /// Returns whether any value is missing.
    pub fn any_missing(&self) -> bool {
        self.any_missing
    }

    /// Returns the number of 64-bit words in a plane; its last bits may belong to no sample.
    pub fn words(&self) -> usize {
        words_of(self.n)
    }

    /// Returns whether the variable has planes.
    #[inline]
    pub fn has_planes(&self, v: usize) -> bool {
        !self.variable(v).planes.is_empty()
    }

    /// Returns the samples with a level, as bits.
    #[inline]
    pub fn plane(&self, v: usize, level: usize) -> &[u64] {
        let words = self.words();
        &lines::words(&self.variable(v).planes)[level * words..(level + 1) * words]
    }

    /// Returns the number of samples with each level; empty if the variable has no planes.
    #[inline]
    pub fn counts(&self, v: usize) -> &[u32] {
        &self.variable(v).counts
    }

    /// Returns the product of the numbers of levels, as a float because it may be huge.
    pub fn domain(&self, set: &[u32]) -> f64 {
        set.iter().map(|&v| self.levels(v as usize) as f64).product()
    }
}

/// The number of codes below which all are read before threads could start.
const SMALL: usize = 100_000;

/// A column as [`Coded::of_any_codes`] reads it.
struct Column {
    variable: Result<Variable>,
    /// Whether a code is 0, and whether one is beyond the declared levels.
    zero: bool,
    past_the_last: bool,
}

impl Column {
    fn read(at: usize, codes: &[i32], declared: Option<&[u32]>, na: bool) -> Self {
        let declared = declared.and_then(|levels| levels.get(at).copied());
        let (mut most, mut zero) = (-1, false);
        for &code in codes {
            most = most.max(code);
            zero |= code == 0;
        }
        let past_the_last = declared.is_some_and(|levels| most >= 0 && most as u32 >= levels);
        let variable = || {
            let different = if declared.is_some() && !past_the_last { None } else { Some(different(codes)?) };
            let renumbered = different.filter(|own| match declared {
                None => own.len() as i64 != i64::from(most) + 1,
                Some(declared) => own.len() <= declared as usize,
            });
            let levels = declared.unwrap_or_else(|| match &renumbered {
                Some(own) => own.len().max(1) as u32,
                None => most.max(0) as u32 + 1,
            });
            let Some(own) = renumbered else { return Variable::new(at, levels, codes, na) };
            let mut closed = memory::copied(codes, Use::Codes)?;
            close_gaps(&mut closed, &own);
            Variable::new(at, levels, &closed, na)
        };
        Column { variable: variable(), zero, past_the_last }
    }
}

/// Returns the different codes in ascending order, without negative ones.
fn different(column: &[i32]) -> Result<Vec<i32>> {
    let mut own: Vec<i32> = Vec::new();
    let mut seen = vec![false; MOST_LEVELS as usize];
    for &code in column.iter().filter(|&&code| code >= 0) {
        match seen.get_mut(code as usize) {
            Some(seen) if *seen => {}
            Some(seen) => {
                *seen = true;
                memory::push(&mut own, code, Use::Codes)?;
            }
            // So large a code is rare; repetitions are removed below.
            None => memory::push(&mut own, code, Use::Codes)?,
        }
    }
    own.sort_unstable();
    own.dedup();
    Ok(own)
}

/// Replaces each code by its index in `own`. Values that are not in `own` stay.
fn close_gaps(column: &mut [i32], own: &[i32]) {
    for code in column {
        if let Ok(place) = own.binary_search(code) {
            *code = place as i32;
        }
    }
}

impl Variable {
    fn new(at: usize, levels: u32, codes: &[i32], na: bool) -> Result<Self> {
        if !(1..=MOST_LEVELS).contains(&levels) {
            return Err(Error::Argument {
                argument: "suffStat$nlev",
                value: format!("{levels} for column {}", at + 1),
                hint: format!("give a number of levels from 1 to {MOST_LEVELS}"),
            });
        }
        let is_level = |code: i32| (code as u32) < levels;
        let (mut missing, mut outside) = (false, false);
        for &code in codes {
            missing |= code == i32::MIN;
            outside |= !is_level(code) & (code != i32::MIN);
        }
        if outside || (missing && !na) {
            let flaw = codes.iter().position(|&code| !is_level(code) && (code != i32::MIN || !na)).unwrap_or_default();
            let shown = if codes[flaw] == i32::MIN { "NA".into() } else { codes[flaw].to_string() };
            return Err(Error::Argument {
                argument: "suffStat$dm",
                value: format!("has {shown} in row {}, column {}", flaw + 1, at + 1),
                hint: format!(
                    "the codes of this column must be from 0 to {}; suff_discrete() makes valid codes and numbers of levels",
                    levels - 1
                ),
            });
        }
        // A missing value, with only the sign bit set, becomes the number of levels. There is no branch, and `levels` is copied, so that
        // many codes are computed at once.
        let code = move |code: i32| (code & !(code >> 31)) | (levels as i32 & (code >> 31));
        let codes = match levels {
            0..=255 => Codes::Bytes(memory::collected(codes.iter().map(move |&c| code(c) as u8), Use::Codes)?),
            _ => Codes::Words(memory::collected(codes.iter().map(move |&c| code(c) as u16), Use::Codes)?),
        };
        Variable::of_checked(levels, codes, missing)
    }

    /// Makes a variable without missing values.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if a code is outside 0, ..., levels - 1, or the number of levels is out of range.
    pub fn of_codes(levels: u32, codes: Codes) -> Result<Self> {
        let most = match &codes {
            Codes::Bytes(codes) => codes.iter().max().map_or(0, |&code| u32::from(code)),
            Codes::Words(codes) => codes.iter().max().map_or(0, |&code| u32::from(code)),
        };
        if !(1..=MOST_LEVELS).contains(&levels) || most >= levels {
            return Err(Error::Argument {
                argument: "levels",
                value: format!("{levels}, but the largest code is {most}"),
                hint: format!("give a number above the largest code, at most {MOST_LEVELS}"),
            });
        }
        Variable::complete(levels, codes)
    }

    /// Makes a variable as [`Variable::of_codes`] does, from codes known to lie in 0, ..., levels - 1.
    pub(crate) fn complete(levels: u32, codes: Codes) -> Result<Self> {
        Variable::of_checked(levels, codes, false)
    }

    /// Makes a variable without samples.
    pub(super) fn none() -> Self {
        Variable { levels: 1, codes: Codes::Bytes(Vec::new()), missing: false, planes: Vec::new(), counts: Vec::new() }
    }

    /// Returns the number of levels.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the codes.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    pub(super) fn of_checked(levels: u32, codes: Codes, missing: bool) -> Result<Self> {
        let (planes, n) = (planes(levels, &codes)?, codes.len());
        let mut counts = vec![0; if planes.is_empty() { 0 } else { levels as usize }];
        for (plane, count) in lines::words(&planes).chunks_exact(words_of(n).max(1)).zip(&mut counts) {
            Bits::default().count_common(plane, &[plane], std::slice::from_mut(count));
        }
        Ok(Variable { levels, codes, missing, planes, counts })
    }
}

/// Returns the number of words in a plane of n samples, rounded up to whole cache lines if there are many.
fn words_of(n: usize) -> usize {
    match n.div_ceil(64) {
        words if words < 8 * lines::WORDS => words,
        words => words.next_multiple_of(lines::WORDS),
    }
}

/// Returns the planes of a variable, or none if it has many levels. Missing values are in no plane.
fn planes(levels: u32, codes: &Codes) -> Result<Vec<Line>> {
    let Codes::Bytes(codes) = codes else { return Ok(Vec::new()) };
    if levels > PLANE_LEVELS {
        return Ok(Vec::new());
    }
    let words = words_of(codes.len());
    let lines = (levels as usize * words).div_ceil(lines::WORDS);
    let mut planes = memory::collected((0..lines).map(|_| Line::default()), Use::Codes)?;
    for (level, plane) in lines::words_mut(&mut planes).chunks_exact_mut(words).enumerate().take(levels as usize) {
        let whole = codes.chunks_exact(64);
        // Bytes past the last code are no level.
        let mut rest = [u8::MAX >> 1; 64];
        rest[..whole.remainder().len()].copy_from_slice(whole.remainder());
        for (word, codes) in plane.iter_mut().zip(whole.chain([rest.as_slice()])) {
            *word = popcount::which(codes, level as u8);
        }
    }
    Ok(planes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::by_column;

    #[test]
    fn planes_and_codes_say_the_same() {
        let codes: Vec<i32> = (0..200).map(|i| if i % 17 == 3 { i32::MIN } else { i * 7 % 5 }).collect();
        let data = Coded::new(by_column(&codes, 1).unwrap(), &[5], true).unwrap();
        assert!(data.missing(0) && data.any_missing() && data.has_planes(0));
        for (i, &code) in codes.iter().enumerate() {
            assert_eq!(data.codes(0).at(i), if code < 0 { 5 } else { code as u32 });
            for level in 0..5 {
                assert_eq!(data.plane(0, level)[i / 64] >> (i % 64) & 1 == 1, code == level as i32);
            }
        }
        let count = |level: i32| codes.iter().filter(|&&code| code == level).count() as u32;
        assert_eq!(data.counts(0), (0..5).map(count).collect::<Vec<_>>());
    }

    #[test]
    fn codes_beyond_the_levels_are_refused() {
        assert!(Variable::of_codes(3, Codes::Bytes(vec![0, 2])).is_ok());
        assert!(Variable::of_codes(2, Codes::Bytes(vec![0, 2])).is_err());
        assert!(Variable::of_codes(65_536, Codes::Words(vec![0])).is_err());
        assert!(Coded::of_variables(3, vec![Variable::complete(3, Codes::Bytes(vec![0, 2])).unwrap()]).is_err());
    }

    #[test]
    fn codes_with_gaps_stand_for_levels_in_their_order() {
        let codes = [0, 5, 2, 5, 1, 0, 0, i32::MIN];
        let codes = by_column(&codes, 2).unwrap();
        let levels = |declared: Option<&[u32]>| {
            let data = Coded::of_any_codes(codes, declared, true, false, &Pool::none()).unwrap();
            let of = |v: usize| (0..4).map(|i| data.codes(v).at(i)).collect::<Vec<_>>();
            (data.levels(0), of(0), data.levels(1), of(1))
        };
        assert_eq!(levels(None), (3, vec![0, 2, 1, 2], 2, vec![1, 0, 0, 2]));
        assert_eq!(levels(Some(&[3, 3])), (3, vec![0, 2, 1, 2], 3, vec![1, 0, 0, 3]));
        assert_eq!(levels(Some(&[6, 2])), (6, vec![0, 5, 2, 5], 2, vec![1, 0, 0, 2]));
        // More codes than levels, and huge codes.
        assert!(Coded::of_any_codes(codes, Some(&[2, 2]), true, false, &Pool::none()).is_err());
        let huge =
            Coded::of_any_codes(by_column(&[0, i32::MAX, 70_000], 1).unwrap(), None, false, false, &Pool::none())
                .unwrap();
        assert_eq!((huge.levels(0), huge.codes(0).at(1), huge.codes(0).at(2)), (3, 2, 1));
    }

    #[test]
    fn codes_from_1_on_are_refused_with_pcalgs_words() {
        let refused = |declared: Option<&[u32]>, zero: bool| {
            Coded::of_any_codes(by_column(&[1, 2, 2, 1], 2).unwrap(), declared, false, zero, &Pool::none())
                .map_err(|e| e.to_string())
        };
        let message = refused(None, false).unwrap_err();
        assert!(message.contains("'dm' must have values in {0,1,..} with at least one '0' value"), "{message}");
        assert!(message.starts_with("`suffStat$dm` has no code 0") && message.contains("suff_discrete()"), "{message}");
        assert!(refused(Some(&[2, 2]), false).is_err());
        // Declared levels that do not occur are allowed. So are gaps, if another column begins with 0.
        assert_eq!(refused(Some(&[3, 3]), false).unwrap().levels(0), 3);
        assert_eq!(refused(None, true).unwrap().levels(0), 2);
    }

    #[test]
    fn the_error_says_where() {
        let message = |levels: &[u32], codes: &[i32]| {
            Coded::new(by_column(codes, levels.len()).unwrap(), levels, false).unwrap_err().to_string()
        };
        assert!(message(&[2, 2], &[0, 1, 0, 2]).contains("2 in row 2, column 2"));
        assert!(message(&[2, 2], &[0, 1, -1, 1]).contains("-1 in row 1, column 2"));
        assert!(message(&[2], &[0, i32::MIN]).contains("NA in row 2, column 1"));
        assert!(message(&[0], &[0, 0]).contains("0 for column 1"));
        assert!(message(&[65_536], &[0, 0]).contains("65536 for column 1"));
        assert!(Coded::new(by_column(&[], 1).unwrap(), &[2], false).is_err());
    }

    #[test]
    fn the_largest_code_fits_beside_the_missing_one() {
        for levels in [255, 256, 65_535] {
            let codes = [levels as i32 - 1, i32::MIN];
            let data = Coded::new(by_column(&codes, 1).unwrap(), &[levels], true).unwrap();
            assert_eq!((data.codes(0).at(0), data.codes(0).at(1)), (levels - 1, levels));
        }
    }
}
