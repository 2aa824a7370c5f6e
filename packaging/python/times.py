"""Times pc() of Python and of R on the same correlations: python times.py 100 1000 5000

Rscript must find the R package pcgpu. Prints milliseconds of five runs on two threads of the CPU: smallest, median.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import pcgpu

IN_R = """
suppressMessages(library(pcgpu))
folder <- commandArgs(TRUE)[1L]; p <- as.integer(commandArgs(TRUE)[2L]); n <- 500L
C <- cor(random_data(random_dag(p, seed = 1L), n, standardise = TRUE, seed = 1L, numCores = 2L))
writeBin(as.vector(C), file.path(folder, "C"))
run <- function() pc(list(C = C, n = n), gaussCItest, alpha = 0.01, p = p, device = "cpu", numCores = 2L)
seconds <- vapply(1:5, function(i) {
  began <- Sys.time()
  run()
  as.numeric(Sys.time() - began, units = "secs")
}, 0)
cat(seconds)
writeBin(as.raw(as(run()@graph, "matrix")), file.path(folder, "graph"))
"""


def shown(seconds):
    return f"{1e3 * min(seconds):7.1f} {1e3 * np.median(seconds):7.1f}"


def main():
    for p in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(["Rscript", "-e", IN_R, folder, str(p)], capture_output=True, text=True, check=True)
            C = np.fromfile(pathlib.Path(folder, "C")).reshape(p, p)
            graph = np.fromfile(pathlib.Path(folder, "graph"), dtype=np.int8).reshape(p, p, order="F")
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            cpdag, _, n_tests = pcgpu.pc(C, 500, 0.01, threads=2, device="cpu")
            seconds.append(time.perf_counter() - began)
        in_r = shown([float(word) for word in run.stdout.split()])
        same = "same graph" if np.array_equal(cpdag, graph) else "OTHER GRAPH"
        print(f"p {p:6}: Python {shown(seconds)}, R {in_r}, {sum(n_tests)} tests, {same}", flush=True)


if __name__ == "__main__":
    main()
