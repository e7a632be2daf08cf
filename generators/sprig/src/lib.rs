//! The Sprig and Helm template functions.
