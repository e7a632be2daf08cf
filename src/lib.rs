//! Whipstaff.
