//! Arithmetic (Sprig 3.3 `numeric.go`). Integers wrap around, as Go's do.

use crate::{
    cast::{self, NumberError, to_float64, to_int64},
    decimal,
    declare::{Outcome, fail, fixed, float, from, int, text, value, variadic},
    lists::charge_items,
};
use whipstaff_gotemplate::{
    Function, FunctionError, List, ListType, Runtime,
    Type::{Any, Float64, Int, String as Text},
    Value,
};

pub(crate) fn functions() -> Vec<Function> {
    [conversions(), integers(), floats(), sequences()]
        .into_iter()
        .flatten()
        .collect()
}

/// Conversions.
fn conversions() -> Vec<Function> {
    vec![
        fixed("int", &[Any], |_, a| Ok(Value::int(to_int64(&value(a, 0))))),
        fixed("int64", &[Any], |_, a| {
            Ok(Value::int64(to_int64(&value(a, 0))))
        }),
        fixed(
            "float64",
            &[Any],
            |_, a| Ok(to_float64(&value(a, 0)).into()),
        ),
        fixed("atoi", &[Text], |_, a| {
            Ok(Value::int(match cast::parse_int(text(a, 0), 10) {
                Ok(number) | Err(NumberError::Range(number)) => number,
                Err(NumberError::Syntax) => 0,
            }))
        }),
        fixed("toDecimal", &[Any], |runtime, a| {
            let text = cast::print(runtime, &value(a, 0))?;
            Ok(Value::int64(cast::parse_int(&text, 8).unwrap_or(0)))
        }),
    ]
}

/// Integers.
fn integers() -> Vec<Function> {
    vec![
        fixed("add1", &[Any], |_, a| {
            Ok(Value::int64(to_int64(&value(a, 0)).wrapping_add(1)))
        }),
        variadic("add", &[], Any, |_, a| {
            Ok(Value::int64(
                a.iter().map(to_int64).fold(0, i64::wrapping_add),
            ))
        }),
        fixed("sub", &[Any, Any], |_, a| {
            Ok(Value::int64(
                to_int64(&value(a, 0)).wrapping_sub(to_int64(&value(a, 1))),
            ))
        }),
        fixed("div", &[Any, Any], |_, a| divide(a, i64::wrapping_div)),
        fixed("mod", &[Any, Any], |_, a| divide(a, i64::wrapping_rem)),
        variadic("mul", &[Any], Any, |_, a| {
            Ok(Value::int64(
                a.iter().map(to_int64).fold(1, i64::wrapping_mul),
            ))
        }),
        variadic("max", &[Any], Any, |_, a| Ok(fold_integers(a, i64::max))),
        variadic("biggest", &[Any], Any, |_, a| {
            Ok(fold_integers(a, i64::max))
        }),
        variadic("min", &[Any], Any, |_, a| Ok(fold_integers(a, i64::min))),
        variadic("maxf", &[Any], Any, |_, a| {
            Ok(fold_floats(a, greater_float))
        }),
        variadic("minf", &[Any], Any, |_, a| {
            Ok(fold_floats(a, |x, y| -greater_float(-x, -y)))
        }),
    ]
}

/// Floats.
fn floats() -> Vec<Function> {
    vec![
        fixed("floor", &[Any], |_, a| {
            Ok(to_float64(&value(a, 0)).floor().into())
        }),
        fixed("ceil", &[Any], |_, a| {
            Ok(to_float64(&value(a, 0)).ceil().into())
        }),
        variadic("round", &[Any, Int], Float64, round),
        fixed("add1f", &[Any], |_, a| {
            decimal::fold(&value(a, 0), &[Value::int(1)], decimal::add)
        }),
        variadic("addf", &[], Any, |_, a| {
            decimal::fold(&Value::int(0), a, decimal::add)
        }),
        variadic("subf", &[Any], Any, |_, a| {
            decimal::fold(&value(a, 0), from(a, 1), decimal::subtract)
        }),
        variadic("mulf", &[Any], Any, |_, a| {
            decimal::fold(&value(a, 0), from(a, 1), decimal::multiply)
        }),
        variadic("divf", &[Any], Any, |_, a| {
            decimal::fold(&value(a, 0), from(a, 1), decimal::divide)
        }),
    ]
}

/// Sequences.
fn sequences() -> Vec<Function> {
    vec![
        fixed("until", &[Int], |runtime, a| {
            let limit = int(a, 0);
            integer_sequence(runtime, 0, limit, if limit < 0 { -1 } else { 1 })
        }),
        fixed("untilStep", &[Int, Int, Int], |runtime, a| {
            integer_sequence(runtime, int(a, 0), int(a, 1), int(a, 2))
        }),
        variadic("seq", &[], Int, sequence),
    ]
}

fn divide(a: &[Value], operation: fn(i64, i64) -> i64) -> Outcome {
    let (dividend, divisor) = (to_int64(&value(a, 0)), to_int64(&value(a, 1)));
    if divisor == 0 {
        return fail("runtime error: integer divide by zero");
    }
    Ok(Value::int64(operation(dividend, divisor)))
}

fn fold_integers(a: &[Value], choose: fn(i64, i64) -> i64) -> Value {
    Value::int64(a.iter().map(to_int64).reduce(choose).unwrap_or_default())
}

fn fold_floats(a: &[Value], choose: fn(f64, f64) -> f64) -> Value {
    a.iter()
        .map(to_float64)
        .reduce(choose)
        .unwrap_or_default()
        .into()
}

/// `math.Max`: infinity before NaN before all others, and 0 before -0.
fn greater_float(left: f64, right: f64) -> f64 {
    if left == f64::INFINITY || right == f64::INFINITY {
        return f64::INFINITY;
    }
    if left.is_nan() || right.is_nan() {
        return f64::NAN;
    }
    if left == 0.0 && right == 0.0 {
        return if left.is_sign_negative() { right } else { left };
    }
    if left > right { left } else { right }
}

/// Rounds up from a fraction of one half on, or from the one that is given. A negative fraction is always below.
fn round(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let (number, places) = (to_float64(&value(a, 0)), int(a, 1));
    let threshold = float(a, 2).unwrap_or(0.5);
    let power = power_of_ten(places);
    let shifted = power * number;
    let rounded = if shifted.fract() >= threshold {
        shifted.ceil()
    } else {
        shifted.floor()
    };
    Ok((rounded / power).into())
}

/// `math.Pow(10, places)` for whole exponents: by squaring, which rounds differently from a table for large ones.
fn power_of_ten(places: i64) -> f64 {
    /// Beyond these the result is zero or infinite.
    const EXPONENTS: std::ops::RangeInclusive<i64> = -400..=400;
    let places = places.clamp(*EXPONENTS.start(), *EXPONENTS.end());
    // The mantissa stays in [0.5, 1) and the exponent of two is kept apart, so that nothing overflows on the way.
    let (mut mantissa, mut exponent) = (1.0_f64, 0_i32);
    let (mut square, mut square_exponent) = (0.625_f64, 4_i32);
    let mut bits = places.unsigned_abs();
    while bits != 0 {
        if bits & 1 == 1 {
            mantissa *= square;
            exponent += square_exponent;
        }
        square *= square;
        square_exponent <<= 1;
        if square < 0.5 {
            square += square;
            square_exponent -= 1;
        }
        bits >>= 1;
    }
    if places < 0 {
        mantissa = 1.0 / mantissa;
        exponent = -exponent;
    }
    // In two steps: one power of two alone may be out of range.
    let half = exponent / 2;
    mantissa * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

/// `untilStep`: a step in the wrong direction gives nothing.
fn step_through(
    runtime: &mut dyn Runtime,
    start: i64,
    limit: i64,
    step: i64,
) -> Result<Vec<i64>, FunctionError> {
    let is_reachable = if limit < start { step < 0 } else { step > 0 };
    if !is_reachable {
        return Ok(Vec::new());
    }
    let distance = limit.abs_diff(start);
    let count = usize::try_from(distance.div_ceil(step.unsigned_abs())).unwrap_or(usize::MAX);
    charge_items(runtime, count)?;
    let mut numbers = Vec::with_capacity(count);
    let mut next = Some(start);
    while let Some(number) = next.filter(|_| numbers.len() < count) {
        numbers.push(number);
        next = number.checked_add(step);
    }
    Ok(numbers)
}

fn integer_sequence(runtime: &mut dyn Runtime, start: i64, limit: i64, step: i64) -> Outcome {
    let numbers = step_through(runtime, start, limit, step)?;
    let items = numbers.into_iter().map(Value::int).collect();
    Ok(Value::List(List::new(ListType::Int, items)))
}

/// Like the command `seq`, as one text: `last`, `first last` or `first step last`.
fn sequence(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let (start, step, end) = match a.len() {
        1 => (1, None, int(a, 0)),
        2 => (int(a, 0), None, int(a, 1)),
        3 => (int(a, 0), Some(int(a, 1)), int(a, 2)),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let limit = end.wrapping_add(direction);
    let numbers = step_through(runtime, start, limit, step.unwrap_or(direction))?;
    Ok(numbers
        .iter()
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(" ")
        .into())
}
