//! Conversion of R objects to core types. The R side has checked the user's arguments. The checks here protect from a mistake of ours, or a
//! direct call of the internals, that would read memory out of bounds.

use std::ffi::CStr;

use extendr_api::prelude::*;
use extendr_ffi::{
    R_ClassSymbol, R_NamesSymbol, Rboolean, Rf_getAttrib, Rf_isObject, Rf_xlength, INTEGER, REAL, R_CHAR, SEXP,
    SEXPTYPE, STRING_ELT, TYPEOF, VECTOR_ELT,
};
use ndarray::ArrayView2;
use pcgpu_core::background::Background;
use pcgpu_core::graph::{Adjacency, SepSets, Side, Tiers};
use pcgpu_core::matrix::by_column;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::{Method, Options};
use pcgpu_core::{shown, Error};

use crate::altrep::{self, DATAPTR_RO};
use crate::failure::{Failure, Outcome};

/// Returns the entries of a list, which protects them.
pub fn entries(list: &List) -> &[Robj] {
    // SAFETY: the list has this many entries, and is expanded (see `altrep`). An Robj has the layout of its SEXP.
    unsafe { std::slice::from_raw_parts(DATAPTR_RO(list.get()).cast(), list.len()) }
}

/// Returns the entry `list$name`.
pub fn entry<'l>(list: &'l List, name: &str) -> Option<&'l Robj> {
    // SAFETY: on R's thread; the list protects its names.
    let at = unsafe { place(Rf_getAttrib(list.get(), R_NamesSymbol), name) }?;
    entries(list).get(at)
}

/// Returns the first place of a text in an expanded vector of texts.
///
/// # Safety
/// On R's thread; the vector is protected.
unsafe fn place(texts: SEXP, text: &str) -> Option<usize> {
    if TYPEOF(texts) != SEXPTYPE::STRSXP {
        return None;
    }
    let is_it = |at: &isize| unsafe { CStr::from_ptr(R_CHAR(STRING_ELT(texts, *at))) }.to_bytes() == text.as_bytes();
    (0..Rf_xlength(texts)).find(is_it).map(|at| at as usize)
}

/// Returns whether the class attribute has this class. R's own function may run R code for an S4 class.
pub fn has_class(value: &Robj, class: &str) -> bool {
    // SAFETY: on R's thread; the object protects its attribute.
    unsafe { place(Rf_getAttrib(value.get(), R_ClassSymbol), class).is_some() }
}

/// Named entries of a list. Each is checked to be what the R side promises.
pub trait Fields {
    /// Returns `list$name`, or `None` if it is NULL or absent.
    fn optional(&self, name: &str) -> Option<&Robj>;
    /// Returns `list$name`.
    fn field(&self, name: &str) -> Outcome<&Robj>;
    /// Returns the core's value for the text `list$name`.
    fn choice<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Outcome<T>;

    /// Returns `list$name` as a function, or `None` if it is NULL or absent.
    fn function(&self, name: &str) -> Outcome<Option<Robj>> {
        match self.optional(name) {
            Some(fun) if !fun.is_function() => Err(Failure::Input(format!("internal: `{name}` is not a function"))),
            fun => Ok(fun.cloned()),
        }
    }

    /// Returns `list$name` as a list, or `None` if it is NULL or absent.
    fn optional_list(&self, name: &str) -> Outcome<Option<List>> {
        self.optional(name).map(|value| list(value, name)).transpose()
    }

    /// Returns `list$name` as a number, or `None` if it is NULL or absent.
    fn optional_number(&self, name: &str) -> Outcome<Option<f64>> {
        self.optional(name).map(|value| number(value, name)).transpose()
    }

    /// Returns `list$name` as a list, see [`list`].
    fn list(&self, name: &str) -> Outcome<List> {
        list(self.field(name)?, name)
    }

    /// Returns `list$name` as a number, see [`number`].
    fn number(&self, name: &str) -> Outcome<f64> {
        number(self.field(name)?, name)
    }

    /// Returns `list$name` as a whole number, see [`count`].
    fn count(&self, name: &str, least: usize) -> Outcome<usize> {
        count(self.field(name)?, name, least)
    }

    /// Returns `list$name` as TRUE or FALSE, see [`flag`].
    fn flag(&self, name: &str) -> Outcome<bool> {
        flag(self.field(name)?, name)
    }

    /// Returns `list$name` as a string, see [`text`].
    fn text(&self, name: &str) -> Outcome<&str> {
        text(self.field(name)?, name)
    }

    /// Returns `list$name` as vertices, see [`vertices`].
    fn vertices(&self, name: &str, p: usize) -> Outcome<Vec<u32>> {
        vertices(self.field(name)?, p, name)
    }
}

impl Fields for List {
    fn optional(&self, name: &str) -> Option<&Robj> {
        entry(self, name).filter(|value| !value.is_null())
    }

    fn field(&self, name: &str) -> Outcome<&Robj> {
        entry(self, name).ok_or_else(|| Failure::Input(format!("internal: `{name}` is missing")))
    }

    fn choice<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Outcome<T> {
        let given = self.text(name)?;
        let known = values.iter().find(|(text, _)| *text == given);
        known.map(|(_, value)| *value).ok_or_else(|| unknown(name, given))
    }
}

/// Returns the failure for a text that names nothing known.
pub fn unknown(name: &str, given: &str) -> Failure {
    Failure::Input(format!("internal: there is no {name} `{given}`"))
}

/// Reads a list argument.
pub fn list(value: &Robj, name: &str) -> Outcome<List> {
    value.as_list().ok_or_else(|| Failure::Input(format!("internal: `{name}` is not a list")))
}

/// Reads one number that is not NA. Refuses dates, factors and other objects that are numbers only inside.
pub fn number(value: &Robj, name: &str) -> Outcome<f64> {
    // SAFETY: on R's thread; it reads a flag of the object.
    let is_plain = unsafe { Rf_isObject(value.get()) } == Rboolean::FALSE;
    let number =
        if value.len() == 1 && is_plain { value.as_real().or_else(|| value.as_integer().map(f64::from)) } else { None };
    number.filter(|n| !n.is_nan()).ok_or_else(|| Failure::Input(format!("internal: `{name}` is not one number")))
}

/// Reads a whole number of at least `least`, which an R integer can hold.
pub fn count(value: &Robj, name: &str, least: usize) -> Outcome<usize> {
    let n = number(value, name)?;
    if n.fract() == 0.0 && n >= least as f64 && n <= f64::from(i32::MAX) {
        Ok(n as usize)
    } else {
        Err(Failure::Input(format!("internal: `{name}` is {}, not a whole number of at least {least}", shown(n))))
    }
}

/// Reads TRUE or FALSE.
pub fn flag(value: &Robj, name: &str) -> Outcome<bool> {
    value.as_bool().ok_or_else(|| Failure::Input(format!("internal: `{name}` is neither TRUE nor FALSE")))
}

/// Reads one string.
pub fn text<'a>(value: &'a Robj, name: &str) -> Outcome<&'a str> {
    value.as_str().ok_or_else(|| Failure::Input(format!("internal: `{name}` is not one string")))
}

/// Returns the cells of a p x p matrix as a matrix, or `None` if they are not p x p.
fn of_square<T>(cells: &[T], p: usize) -> Option<ArrayView2<'_, T>> {
    by_column(cells, p).ok().filter(ArrayView2::is_square)
}

/// Reads a p x p matrix of doubles.
pub fn square<'a>(value: &'a Robj, p: usize, name: &str) -> Outcome<ArrayView2<'a, f64>> {
    square_of(value.as_real_slice().unwrap_or_default(), p, name)
}

/// Returns these cells as a p x p matrix of doubles.
pub fn square_of<'a>(cells: &'a [f64], p: usize, name: &str) -> Outcome<ArrayView2<'a, f64>> {
    of_square(cells, p)
        .ok_or_else(|| Failure::Input(format!("internal: `{name}` is not a {p} x {p} matrix of doubles")))
}

/// Reads a logical p x p matrix as a graph, from its upper triangle.
fn pairs(list: &List, name: &str, p: usize) -> Outcome<Option<Adjacency>> {
    let Some(value) = list.optional(name) else { return Ok(None) };
    let wrong = || Failure::Input(format!("internal: `{name}` is not a {p} x {p} logical matrix"));
    let cells = value.as_logical_slice().and_then(|cells| of_square(cells, p)).ok_or_else(wrong)?;
    memory::room(Adjacency::bytes(p), Use::Pairs)?;
    let mut graph = Adjacency::empty(p);
    for y in 1..p {
        for x in 0..y {
            if cells[[x, y]].is_true() {
                graph.insert(x, y);
            }
        }
    }
    Ok(Some(graph))
}

/// Reads the options of a search.
pub fn options(list: &List) -> Outcome<Options> {
    let p = list.count("p", 2)?;
    let method = list.choice(
        "method",
        &[("stable", Method::Stable), ("stable.fast", Method::StableFast), ("original", Method::Original)],
    )?;
    let mut options = Options {
        method,
        na_delete: list.flag("na_delete")?,
        m_max: list.number("m_max")?,
        fixed_gaps: pairs(list, "fixed_gaps", p)?,
        fixed_edges: pairs(list, "fixed_edges", p)?,
        ..Options::new(p, list.number("alpha")?)
    };
    background(list.field("knowledge")?, p)?.enter(&mut options);
    Ok(options)
}

/// Reads background knowledge on p variables: `list(tiers, context_all, context_tier, forbidden, required)`. The last two are two columns
/// of vertices. NULL means no knowledge.
pub fn background(value: &Robj, p: usize) -> Outcome<Background> {
    if value.is_null() {
        return Ok(Background::default());
    }
    let all = list(value, "knowledge")?;
    let arrows = |name: &str| arrows(all.field(name)?, p, name);
    let tiers = all.field("tiers")?;
    let tiers = match tiers.as_real_slice() {
        None => Tiers::default(),
        Some(tiers) if tiers.len() == p => Tiers::of(tiers),
        Some(_) => return Err(Failure::Input("internal: `tiers` does not have a number for each variable".into())),
    };
    Ok(Background {
        tiers,
        context_all: all.vertices("context_all", p)?,
        context_tier: all.vertices("context_tier", p)?,
        forbidden: arrows("forbidden")?,
        required: arrows("required")?,
    })
}

/// Converts indices 1 .. p to 0 .. p-1; they may be integers or whole doubles.
pub fn vertices(value: &Robj, p: usize, name: &str) -> Outcome<Vec<u32>> {
    let wrong = || Failure::Input(format!("internal: `{name}` contains a value that is not a vertex"));
    let shift = |v: f64| {
        if v.fract() == 0.0 && v >= 1.0 && v <= p as f64 {
            Ok(v as u32 - 1)
        } else {
            Err(wrong())
        }
    };
    if value.is_null() {
        return Ok(Vec::new());
    }
    if let Some(slice) = value.as_integer_slice() {
        let mut numbers = memory::space(slice.len(), Use::Pairs)?;
        for &v in slice {
            numbers.push(shift(f64::from(v))?);
        }
        return Ok(numbers);
    }
    let slice = value.as_real_slice().ok_or_else(wrong)?;
    let mut numbers = memory::space(slice.len(), Use::Pairs)?;
    for &v in slice {
        numbers.push(shift(v)?);
    }
    Ok(numbers)
}

/// Converts two columns of vertices to pairs [from, to].
pub fn arrows(value: &Robj, p: usize, name: &str) -> Outcome<Vec<[u32; 2]>> {
    let both = vertices(value, p, name)?;
    let (from, to) = both.split_at(both.len() / 2);
    Ok(from.iter().zip(to).map(|(&from, &to)| [from, to]).collect())
}

/// Reads for each vertex a list of other vertices.
pub fn vertex_lists(edges: &List) -> Outcome<Vec<Vec<u32>>> {
    let mut lists = memory::space(edges.len(), Use::Pairs)?;
    for value in entries(edges) {
        lists.push(vertices(value, edges.len(), "edges")?);
        memory::check()?;
    }
    Ok(lists)
}

/// Converts neighbour lists to a graph.
pub fn graph(edges: &List, p: usize) -> Outcome<Adjacency> {
    if edges.len() != p {
        return Err(Failure::Input(format!("internal: `edges` has {} entries for {p} vertices", edges.len())));
    }
    let lists = vertex_lists(edges)?;
    memory::room(Adjacency::bytes(p), Use::Pairs)?;
    Ok(Adjacency::from_lists(&lists))
}

/// Reads pcalg's list of lists of separating sets. With `graph`, reads only the sets of pairs at distance two. The standard collider rule
/// needs no others, and these are few of the p x p.
///
/// The cells are read one by one through R's own accessors. An `Robj` for each of p x p cells would take a second at p = 1,000.
pub fn sepsets(sepset: &List, p: usize, graph: Option<&Adjacency>, pool: &Pool) -> Outcome<SepSets> {
    let refuse = |value: String| {
        Failure::Core(Error::Argument {
            argument: "skel@sepset",
            value,
            hint: format!(
                "give a list of {p} lists of {p} entries, as in pcalg; each entry is NULL or numbers of variables"
            ),
        })
    };
    memory::room(Adjacency::bytes(p) + 32 * p, Use::Sets)?;
    if sepset.len() != p {
        return Err(refuse(format!("a list of {}", sepset.len())));
    }
    if let Some(flat) = altrep::flat_of(sepset.as_robj()) {
        return Ok(flat.sepsets(&flat.graph(pool)?, pool)?);
    }
    let mut sets = SepSets::new(p, Side::Smaller);
    let mut set = Vec::new();
    for (x, row) in entries(sepset).iter().enumerate() {
        memory::check()?;
        let row = row.as_list().filter(|row| row.len() <= p);
        let row = row.ok_or_else(|| refuse(format!("has an invalid entry at [[{}]]", x + 1)))?;
        let asked: Vec<usize> = match graph {
            None => (0..p).collect(),
            Some(graph) => graph.at_distance_two(x).into_iter().map(|y| y as usize).collect(),
        };
        for y in asked.into_iter().filter(|&y| y != x && y < row.len()) {
            // SAFETY: `row` is a list of at least y + 1 entries, protected by its Robj, and the entry by the list.
            let known = unsafe { read_set(VECTOR_ELT(row.get(), y as isize), p, &mut set) };
            match known {
                None => return Err(refuse(format!("has an invalid entry at [[{}]][[{}]]", x + 1, y + 1))),
                Some(false) => {}
                Some(true) if set.is_empty() && x < y => sets.insert_empty(x, y),
                Some(true) => sets.insert(x, y, &set),
            }
        }
    }
    memory::check()?;
    Ok(sets)
}

/// Reads a vector of vertices into `set`. Returns `Some(false)` for NULL, and `None` if the entry is not a vector of vertices.
///
/// # Safety
/// `entry` must be an R object that stays protected during the call.
unsafe fn read_set(entry: SEXP, p: usize, set: &mut Vec<u32>) -> Option<bool> {
    set.clear();
    let len = match TYPEOF(entry) {
        SEXPTYPE::NILSXP => return Some(false),
        SEXPTYPE::INTSXP | SEXPTYPE::REALSXP => Rf_xlength(entry) as usize,
        _ => return None,
    };
    for i in 0..len {
        let v = match TYPEOF(entry) {
            SEXPTYPE::INTSXP => f64::from(*INTEGER(entry).add(i)),
            _ => *REAL(entry).add(i),
        };
        if !(v >= 1.0 && v <= p as f64 && v.fract() == 0.0) {
            return None;
        }
        set.push(v as u32 - 1);
    }
    Some(true)
}
