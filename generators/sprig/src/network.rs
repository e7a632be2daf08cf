//! `getHostByName`, which as in Helm without `--enable-dns` asks nobody and gives an empty text.

use crate::typed::takes;
use whipstaff_gotemplate::{Function, Type};

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![Function {
        name: "getHostByName",
        signature: takes(&[Type::String]),
        call: |_, _| Ok("".into()),
    }]
}
