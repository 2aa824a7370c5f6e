//! The boundary between R and [`pcgpu_core`]: slices and scalars in, one list out. Each module ends with those of its functions that R
//! calls.
//!
//! From the bottom up:
//!
//! * [`token`]: stops and resumes R's jumps. [`failure`]: possible failures. [`value`]: values returned to R. [`altrep`]: expands R objects
//!   before they are read. [`respond`]: ends a function that R calls. [`input`], [`output`]: R objects to core types and back.
//! * [`session`]: calls back into R for tests, progress, interrupts and random numbers. [`ranks`]: other processes. [`gpu`]: GPUs.
//!   [`machine`]: the machine that a call runs on. [`call`]: the machine with R's callbacks.
//! * [`data_file`]: data in files that processes share. [`table`]: data files or R's own data. [`correlation`], [`running`]: correlations
//!   of data, all at once or block by block.
//! * [`test`]: the test of a search. [`discrete`], [`features`], [`knn`], [`mixed`]: tests with their data.
//! * [`search`]: a search. [`limits`]: its time limit and its checkpoint. [`checked`]: a search on a matrix that is still being checked.
//!   [`report`]: what it reports. [`orientation`]: the orientation of a skeleton. [`compact`]: results as flat arrays. [`lazy`]: p x p slots
//!   that hold these. [`pag`]: graphs with hidden variables.
//! * [`local`]: searches around one variable, and files of genotypes. [`selection`]: feature selection. [`effects`]: causal effects.
//!   [`assessment`]: how far graphs can be trusted. [`simulation`]: random graphs and data. [`stability`]: how often resampled data have an
//!   edge.
//! * [`rank`]: this process as a worker of another. [`workers`], [`processes`]: this session's own workers. [`sockets`]: options of R's
//!   connections.

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
mod features;
#[cfg(feature = "cuda")]
mod gpu;
mod input;
mod knn;
mod lazy;
mod limits;
mod local;
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

/// Allocator with a reserve for small allocations, whose failure would end R.
#[global_allocator]
static ALLOCATOR: pcgpu_core::memory::Careful = pcgpu_core::memory::Careful;

extendr_module! {
    mod pcgpu;
    use search;
    use compact;
    use orientation;
    use test;
    use discrete;
    use features;
    use knn;
    use mixed;
    use correlation;
    use running;
    use data_file;
    use selection;
    use local;
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
