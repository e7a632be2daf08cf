//! The order keys are written in: like text, but runs of digits count as numbers and letters come
//! last.
//!
//! Mirrors `sorter.go` of go.yaml.in/yaml v2.4.3 and v3.0.4.

use std::cmp::Ordering;

use super::letters::{is_digit, is_letter};

/// Which of the two sorters to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorter {
    V2,
    /// Letters come before what else follows a run of digits.
    V3,
}

/// Sorts keys.
///
/// Go's rule is no order in the strict sense: `a10` < `a1b` < `a9` < `a10`. There Go gives one
/// result or the other by chance; here it depends on the keys alone.
pub(super) fn sort<T>(entries: &mut Vec<(&str, T)>, sorter: Sorter)
where
    T: Copy,
{
    let in_order = entries.windows(2).all(|pair| match pair {
        [first, second] => first.0 < second.0,
        _ => true,
    });
    if !in_order {
        entries.sort_by(|first, second| first.0.cmp(second.0));
    }
    // A merge sort of our own: the standard one may panic on what is no total order.
    let mut width = 1;
    let mut merged = Vec::with_capacity(entries.len());
    while width < entries.len() {
        merged.clear();
        for run in entries.chunks(width * 2) {
            let (left, right) = run.split_at(width.min(run.len()));
            merge(left, right, sorter, &mut merged);
        }
        std::mem::swap(entries, &mut merged);
        width *= 2;
    }
}

fn merge<'k, T: Copy>(
    mut left: &[(&'k str, T)],
    mut right: &[(&'k str, T)],
    sorter: Sorter,
    merged: &mut Vec<(&'k str, T)>,
) {
    while let (Some((first, left_rest)), Some((second, right_rest))) =
        (left.split_first(), right.split_first())
    {
        if less(second.0, first.0, sorter) {
            merged.push(*second);
            right = right_rest;
        } else {
            merged.push(*first);
            left = left_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}

/// Whether the key `a` comes before `b`.
fn less(a: &str, b: &str, sorter: Sorter) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let common = (0..=common)
        .rev()
        .find(|at| a.is_char_boundary(*at))
        .unwrap_or(0);
    let (same, a_rest) = a.split_at_checked(common).unwrap_or((a, ""));
    let b_rest = b.get(common..).unwrap_or_default();
    let (Some(a_next), Some(b_next)) = (a_rest.chars().next(), b_rest.chars().next()) else {
        return b_rest.len() > a_rest.len();
    };
    match (is_letter(a_next), is_letter(b_next)) {
        (true, true) => return a_next < b_next,
        (false, false) => {}
        (a_is_letter, b_is_letter) => {
            let behind_digits =
                sorter == Sorter::V3 && same.chars().next_back().is_some_and(is_digit);
            return if behind_digits {
                a_is_letter
            } else {
                b_is_letter
            };
        }
    }
    // Zeros count only where they are not the first digits of their run.
    let nonzero = |digit: &char| *digit != '0';
    let inside_number = (a_next == '0' || b_next == '0')
        && same
            .chars()
            .rev()
            .take_while(|digit| is_digit(*digit))
            .any(|digit| nonzero(&digit));
    let start = i64::from(inside_number);
    let (a_number, a_length) = leading_number(a_rest, start);
    let (b_number, b_length) = leading_number(b_rest, start);
    let order = a_number
        .cmp(&b_number)
        .then(a_length.cmp(&b_length))
        .then(a_next.cmp(&b_next));
    order == Ordering::Less
}

/// The value of the digits at the start of the text, put behind those of `start`, and how many
/// there are.
fn leading_number(text: &str, start: i64) -> (i64, usize) {
    text.chars()
        .take_while(|digit| is_digit(*digit))
        .fold((start, 0), |(value, length), digit| {
            let digit = i64::from(u32::from(digit)) - i64::from(u32::from('0'));
            (value.wrapping_mul(10).wrapping_add(digit), length + 1)
        })
}
