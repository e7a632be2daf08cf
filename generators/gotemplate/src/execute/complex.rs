//! Imaginary constants, which templates may write but hardly anything takes.

use crate::{Host, Kind, Value, format::float};
use std::any::Any;

#[derive(Debug)]
struct Complex {
    real: f64,
    imaginary: f64,
}

/// A `complex128`.
pub(super) fn value(real: f64, imaginary: f64) -> Value {
    Value::host(Complex { real, imaginary })
}

impl Host for Complex {
    fn type_name(&self) -> &'static str {
        "complex128"
    }

    fn kind(&self) -> Kind {
        Kind::Complex128
    }

    fn truth(&self) -> bool {
        self.real != 0.0 || self.imaginary != 0.0
    }

    fn print(&self) -> Vec<u8> {
        let sign = if self.imaginary.is_sign_negative() {
            ""
        } else {
            "+"
        };
        let (real, imaginary) = (float(self.real, b'g'), float(self.imaginary, b'g'));
        format!("({real}{sign}{imaginary}i)").into_bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
