//! Addresses in device memory.

use std::fmt;
use std::marker::PhantomData;

/// The address of `T`s in device memory, which the host cannot read; null by default. Kernels take it as a `T*`.
#[repr(transparent)]
pub(super) struct DevicePtr<T>(u64, PhantomData<fn() -> T>);

impl<T> DevicePtr<T> {
    /// The null address.
    pub const NULL: DevicePtr<T> = DevicePtr::at(0);

    /// Makes an address from the number that the driver gives.
    pub const fn at(address: u64) -> Self {
        DevicePtr(address, PhantomData)
    }

    /// Returns the driver's number for this address.
    pub fn address(self) -> u64 {
        self.0
    }

    pub fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Returns the address `elements` elements further.
    pub fn offset(self, elements: u64) -> Self {
        DevicePtr::at(self.0 + elements * size_of::<T>() as u64)
    }

    /// Returns the address `elements` elements before this one. It may lie outside our memory: it is only a base for indices that lead back in.
    pub fn before(self, elements: u64) -> Self {
        DevicePtr::at(self.0.wrapping_sub(elements.wrapping_mul(size_of::<T>() as u64)))
    }

    /// Returns this address as one of other elements.
    pub fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr::at(self.0)
    }

    /// Returns the address `bytes` bytes further, for several things that share a piece of memory.
    pub fn carve<U>(self, bytes: u64) -> DevicePtr<U> {
        DevicePtr::at(self.0 + bytes)
    }
}

// Derived, these would require the same traits of `T`.
impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> Default for DevicePtr<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T> PartialEq for DevicePtr<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A type whose bit patterns are all values, so that the host may read it from memory that a device wrote.
///
/// # Safety
/// Every bit pattern of the type's size must be a value, and the type must have no padding.
pub(super) unsafe trait Plain: Copy + Send + Sync {}

// SAFETY: integers, doubles and arrays of them have no padding, and every bit pattern is a value.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for i64 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
