//! Variables that arrive one by one, while others are in use.

use std::sync::{Arc, OnceLock};

use super::Variable;

/// Places for variables, each of which is filled once. Clones share the places.
#[derive(Clone, Debug)]
pub struct Lent(Arc<[OnceLock<Variable>]>);

impl Default for Lent {
    fn default() -> Self {
        Lent::new(0)
    }
}

impl Lent {
    /// Makes this many empty places.
    pub fn new(count: usize) -> Self {
        Lent((0..count).map(|_| OnceLock::new()).collect())
    }

    /// Puts a variable into its place; returns whether the place was empty.
    pub fn put(&self, at: usize, variable: Variable) -> bool {
        self.0.get(at).is_some_and(|place| place.set(variable).is_ok())
    }

    /// Returns the variable there, or one without samples if the place is empty.
    #[cold]
    pub(super) fn get(&self, at: usize) -> &Variable {
        self.0[at].get_or_init(Variable::none)
    }
}
