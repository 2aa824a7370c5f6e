//! Addresses in device memory.

use std::fmt;
use std::marker::PhantomData;

/// The address of `T`s in device memory, which the host cannot read; null by default. Kernels take it for a `T*`.
#[repr(transparent)]
pub(super) struct DevicePtr<T>(u64, PhantomData<fn() -> T>);

impl<T> DevicePtr<T> {
    /// The address of nothing.
    pub const NULL: DevicePtr<T> = DevicePtr::at(0);

    /// The address that the driver gives as a number.
    pub const fn at(address: u64) -> Self {
        DevicePtr(address, PhantomData)
    }

    /// The number that the driver has for it.
    pub fn address(self) -> u64 {
        self.0
    }

    pub fn is_null(self) -> bool {
        self.0 == 0
    }

    /// The address so many elements further.
    pub fn offset(self, elements: u64) -> Self {
        DevicePtr::at(self.0 + elements * size_of::<T>() as u64)
    }

    /// The address so many elements before, where nothing of ours may be: of what is only ever reached further on.
    pub fn before(self, elements: u64) -> Self {
        DevicePtr::at(self.0.wrapping_sub(elements.wrapping_mul(size_of::<T>() as u64)))
    }

    /// The same address, of other elements.
    pub fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr::at(self.0)
    }

    /// What begins so many bytes further, where several things share a piece of memory.
    pub fn carve<U>(self, bytes: u64) -> DevicePtr<U> {
        DevicePtr::at(self.0 + bytes)
    }
}

// Derived, these would ask the same of `T`.
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

/// What any bits are a value of, so that it may be read from where a device wrote.
///
/// # Safety
/// Every pattern of bits of its size must be a value, and it must have no padding.
pub(super) unsafe trait Plain: Copy + Send + Sync {}

// SAFETY: whole numbers and doubles have neither padding nor patterns that are no value; nor have arrays of them.
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
