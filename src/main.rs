//! The whipstaff binary.
fn main() {}
