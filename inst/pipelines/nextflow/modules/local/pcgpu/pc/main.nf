// From a table to its graph, the table of its edges, and a summary, by `pcgpu pc`. Options, such as the level, are task.ext.args.
process PCGPU_PC {
    tag "${meta.id}"
    label 'process_medium'

    // The image that `make image` builds in pcgpu's repository. Without containers, `pcgpu` must be on the PATH (?pcgpu::main).
    container "pcgpu:latest"

    input:
    tuple val(meta), path(data)

    output:
    tuple val(meta), path("*.graphml")  , emit: graph
    tuple val(meta), path("*.edges.csv"), emit: edges
    tuple val(meta), path("*.json")     , emit: summary
    path "versions.yml"                 , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: '--alpha 0.01'
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    pcgpu pc ${data} ${args} \\
        --threads ${task.cpus} \\
        --out ${prefix}.graphml \\
        --edges ${prefix}.edges.csv \\
        --summary ${prefix}.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        pcgpu: \$(pcgpu --version | sed 's/^pcgpu //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.graphml ${prefix}.edges.csv ${prefix}.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        pcgpu: \$(pcgpu --version | sed 's/^pcgpu //')
    END_VERSIONS
    """
}
