//! The boundary between R and [`pcgpu_core`]: slices and scalars in, one list out. A module ends with the functions of it that R calls.
//!
//! From below:
//!
//! * [`token`]: R's jumps, stopped and resumed. [`failure`]: what can go wrong. [`value`]: what is returned; [`altrep`]: what is done before R objects are read.
//!   [`respond`]: how a function that R calls ends. [`input`], [`output`]: R objects to core types and back.
//! * [`session`]: calls back into R: tests, progress, interrupts, random numbers. [`ranks`]: other processes; [`gpu`]: GPUs; [`machine`]: what a call runs
//!   on. [`call`]: that, and whom it calls back.
//! * [`data_file`]: data in files that processes share; [`table`]: these or R's own data. [`correlation`], [`running`]: correlations of data, all at once or block by block.
//! * [`test`]: the test of a search. [`discrete`], [`knn`], [`mixed`]: tests with their data.
//! * [`search`]: a search; [`limits`]: when it ends, and where it is kept; [`checked`]: on a matrix that is still to be checked; [`report`]: what it reports.
//!   [`orientation`]: how a skeleton is oriented; [`compact`]: results as flat arrays. [`pag`]: what is known where variables are hidden.
//! * [`selection`]: feature selection. [`effects`]: causal effects. [`assessment`]: how far graphs can be trusted. [`simulation`]: random graphs and data.
//!   [`stability`]: how often resampled data have an edge.
//! * [`rank`]: this process as a worker of another. [`workers`], [`processes`]: this session's own workers; [`sockets`]: options of R's connections.

mod altrep;
mod assessment;
mod call;
mod checked;
mod compact;
mod correlation;
mod data_file;
mod discrete;
mod effects;
mod failure;
#[cfg(feature = "cuda")]
mod gpu;
mod input;
mod knn;
mod limits;
mod machine;
mod mixed;
mod orientation;
mod output;
mod pag;
mod processes;
mod rank;
mod ranks;
mod report;
mod respond;
mod running;
mod search;
mod selection;
mod session;
mod simulation;
mod sockets;
mod stability;
mod table;
mod test;
mod token;
mod value;
mod workers;

use extendr_api::prelude::*;

/// Its reserve is for the small allocations that cannot fail without ending R.
#[global_allocator]
static ALLOCATOR: pcgpu_core::memory::Careful = pcgpu_core::memory::Careful;

extendr_module! {
    mod pcgpu;
    use search;
    use compact;
    use orientation;
    use test;
    use discrete;
    use knn;
    use mixed;
    use correlation;
    use running;
    use data_file;
    use selection;
    use pag;
    use effects;
    use assessment;
    use simulation;
    use stability;
    use limits;
    use rank;
    use sockets;
    use workers;
    use machine;
    use output;
    use token;
}
