//! Arguments and results that several tools share.

pub use crate::wire::{Ref, TabId};

use crate::error::{Code, Result};
use crate::page::input::Point;

/// The point that `x` and `y` give, if they do; one without the other is `bad_request`.
pub(crate) fn point_of(x: Option<f64>, y: Option<f64>) -> Result<Option<Point>> {
    match (x, y) {
        (Some(x), Some(y)) => Ok(Some(Point { x, y })),
        (None, None) => Ok(None),
        _ => Err(Code::BadRequest
            .because("x and y go together")
            .fact("argument", if x.is_none() { "x" } else { "y" })),
    }
}
