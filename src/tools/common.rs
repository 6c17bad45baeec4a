//! Arguments and results that several tools share.

pub use crate::wire::{Ref, TabId};
