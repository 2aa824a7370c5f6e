#!/usr/bin/env nextflow
// A workflow of one module: the graph of the package's data, or of the tables that --data names.
//
//   nextflow run main.nf --outdir results
//
// The package's tests run the shell command of the module. Nextflow itself was not available where they run: this workflow is untried.

include { PCGPU_PC } from './modules/local/pcgpu/pc/main'

params.data = "${projectDir}/../../extdata/sachs.csv"

workflow {
    tables = channel.fromPath(params.data).map { file -> [[id: file.simpleName], file] }
    PCGPU_PC(tables)
    PCGPU_PC.out.graph.view { meta, graph -> "${meta.id}: ${graph}" }
}
