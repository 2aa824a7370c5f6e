//! The functions that R calls for graphs of hidden variables.

use extendr_api::prelude::*;

use crate::api::Call;
use crate::failure::respond;
use crate::test::Test;
use crate::{input, limits, pag};

/// FCI, RFCI or FCI+, by `fci$algorithm`. `object` is a fresh result, whose slot `sepset` is filled.
/// @noRd
#[extendr]
fn rust_fci(test: Robj, options: Robj, fci: Robj, engine: Robj, callbacks: Robj, object: Robj) -> Robj {
    respond([&test, &options, &fci, &engine, &callbacks, &object], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (options, listed) = (input::list(&options, "options")?, input::list(&test, "test")?);
        let limits = limits::limits(&options, &listed, &fci)?;
        let p = input::count(&input::field(&options, "p")?, "p", 2)?;
        let test = Test::from_list(&listed, &call.machine.pool)?;
        let asked = pag::Asked::from_list(&input::list(&fci, "fci")?, p)?;
        pag::search(&call, &test, (&options, &limits), &asked, &object)
    })
}

/// The possible-d-sep phase on a skeleton, `list(edges, sepset, pMax)`.
/// @noRd
#[extendr]
fn rust_pdsep(test: Robj, options: Robj, skeleton: Robj, asked: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&test, &options, &skeleton, &asked, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let test = Test::from_list(&input::list(&test, "test")?, &call.machine.pool)?;
        let [options, skeleton, asked] =
            [(&options, "options"), (&skeleton, "skeleton"), (&asked, "asked")].map(|(of, name)| input::list(of, name));
        pag::possible_d_sep(&call, &test, &options?, &skeleton?, &asked?)
    })
}

/// Marks on the edges of a graph, pcalg's matrix `amat`.
/// @noRd
#[extendr]
fn rust_orient_pag(amat: Robj, p: Robj, sepset: Robj, asked: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&amat, &p, &sepset, &asked, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let p = input::count(&p, "p", 1)?;
        pag::orient_marked(&call, &amat, p, &input::list(&sepset, "sepset")?, &input::list(&asked, "asked")?)
    })
}

extendr_module! {
    mod api_pag;
    fn rust_fci;
    fn rust_pdsep;
    fn rust_orient_pag;
}
