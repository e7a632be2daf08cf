//! Decimal arithmetic (`github.com/shopspring/decimal` 1.4) behind `addf`, `subf`, `mulf` and `divf`.

use crate::{
    cast::to_float64,
    declare::{Outcome, fail},
};
use num_bigint::{BigInt, Sign};
use std::ops::Neg;
use whipstaff_gotemplate::{FunctionError, Value};

/// Digits behind the point that a division keeps.
const DIVISION_PRECISION: i64 = 16;

/// `coefficient · 10^exponent`.
#[derive(Debug, Clone)]
pub(crate) struct Decimal {
    coefficient: BigInt,
    exponent: i64,
}

/// An operation on two decimals.
pub(crate) type Operation = fn(&Decimal, &Decimal) -> Result<Decimal, FunctionError>;

/// Converts the operands to decimals and folds them from the left; the result is a `float64` again.
pub(crate) fn fold(first: &Value, rest: &[Value], operation: Operation) -> Outcome {
    let mut result = Decimal::from_float(to_float64(first))?;
    for operand in rest {
        result = operation(&result, &Decimal::from_float(to_float64(operand))?)?;
    }
    Ok(result.to_float().into())
}

/// The exact sum.
pub(crate) fn add(left: &Decimal, right: &Decimal) -> Result<Decimal, FunctionError> {
    let exponent = left.exponent.min(right.exponent);
    let coefficient = left.scaled_to(exponent) + right.scaled_to(exponent);
    Ok(Decimal {
        coefficient,
        exponent,
    })
}

/// The exact difference.
pub(crate) fn subtract(left: &Decimal, right: &Decimal) -> Result<Decimal, FunctionError> {
    add(
        left,
        &Decimal {
            coefficient: right.coefficient.clone().neg(),
            exponent: right.exponent,
        },
    )
}

/// The exact product.
pub(crate) fn multiply(left: &Decimal, right: &Decimal) -> Result<Decimal, FunctionError> {
    let coefficient = &left.coefficient * &right.coefficient;
    Ok(Decimal {
        coefficient,
        exponent: left.exponent + right.exponent,
    })
}

/// The quotient, with a half rounded away from zero.
pub(crate) fn divide(left: &Decimal, right: &Decimal) -> Result<Decimal, FunctionError> {
    if right.coefficient.sign() == Sign::NoSign {
        return fail("decimal division by 0");
    }
    let shift = left.exponent - right.exponent + DIVISION_PRECISION;
    let (mut dividend, mut divisor) = (left.coefficient.clone(), right.coefficient.clone());
    if shift < 0 {
        divisor *= power_of_ten(-shift);
    } else {
        dividend *= power_of_ten(shift);
    }
    let is_negative = (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let (dividend, divisor) = (dividend.magnitude(), divisor.magnitude());
    let quotient = dividend / divisor;
    let remainder = dividend - &quotient * divisor;
    let rounded = if remainder * 2_u8 < *divisor {
        quotient
    } else {
        quotient + 1_u8
    };
    let coefficient = BigInt::from(rounded);
    let coefficient = if is_negative {
        -coefficient
    } else {
        coefficient
    };
    Ok(Decimal {
        coefficient,
        exponent: -DIVISION_PRECISION,
    })
}

impl Decimal {
    /// The shortest decimal that reads back as this number.
    fn from_float(number: f64) -> Result<Self, FunctionError> {
        if !number.is_finite() {
            let name = match number {
                _ if number.is_nan() => "NaN",
                _ if number > 0.0 => "+Inf",
                _ => "-Inf",
            };
            return fail(format!("Cannot create a Decimal from {name}"));
        }
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let coefficient = format!("{whole}{fraction}").parse().unwrap_or_default();
        Ok(Self {
            coefficient,
            exponent: exponent - fraction.len() as i64,
        })
    }

    fn scaled_to(&self, exponent: i64) -> BigInt {
        &self.coefficient * power_of_ten(self.exponent - exponent)
    }

    /// The nearest `float64`.
    fn to_float(&self) -> f64 {
        if self.coefficient.sign() == Sign::NoSign {
            return 0.0;
        }
        format!("{}e{}", self.coefficient, self.exponent)
            .parse()
            .unwrap_or(f64::NAN)
    }
}

/// Exponents of a `float64` lie within 324 on both sides, and a template's text bounds how many are multiplied.
fn power_of_ten(exponent: i64) -> BigInt {
    BigInt::from(10_u8).pow(u32::try_from(exponent).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_quotients_are_those_of_decimals() {
        let operand = |text: &str| Value::from(text);
        for (operation, left, right, expected) in [
            (add as Operation, "0.1", "0.2", 0.3),
            (subtract, "1.1", "1", 0.1),
            (multiply, "1.1", "1.1", 1.21),
            (divide, "10", "3", 3.333_333_333_333_333_5),
            (divide, "-2", "3", -0.666_666_666_666_666_7),
            (divide, "1e-20", "1", 0.0),
            (divide, "5e-17", "1", 1e-16),
            (add, "1e300", "1e-300", 1e300),
        ] {
            let result = fold(&operand(left), &[operand(right)], operation);
            let printed = result.map(|value| format!("{value:?}"));
            assert_eq!(printed, Ok(format!("Float({expected:?})")));
        }
    }
}
