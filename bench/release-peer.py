"""Searches with causal-learn, Andrey, tigramite, Tetrad or ramBLe, for release.R.

  python release-peer.py FOLDER PROGRAM METHOD ALPHA THREADS

FOLDER has 1.csv, 2.csv, ...: a header and a row for each observation; columns of whole numbers are discrete. METHOD is
ALGORITHM/TEST as release.R names it. Prints "version,VERSION", and for each data set its edges, "seed,0,i,j,mark at i,mark
at j", and then "seed,seconds,0,0,0,0". Marks are pcalg's: 1 is a circle, 2 an arrowhead, 3 a tail. Seconds are the
median of three calls after a first one, or the first one if it takes two seconds. Tetrad's jar is in $TETRAD_JAR, the
program ramble, built with TIMER=1, in $RAMBLE. Lagged columns count as in lagged(): the largest lag first.
"""

import contextlib
import importlib.metadata
import io
import itertools
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import pandas as pd

LAGS = 2
DASH_MARKS = {"-": 3, "o": 1, "x": 2, ">": 2, "<": 2}


def of_marks(marks, code):
    """Returns the edges of a matrix that has the mark at i of the edge of i and j at [i, j]."""
    pairs = itertools.combinations(range(len(marks)), 2)
    return [(i, j, code[marks[i, j]], code[marks[j, i]]) for i, j in pairs if marks[i, j] or marks[j, i]]


def of_lags(lag, p):
    """Returns the edges into the present of the matrices of lag(k), whose entry [i, j] is a pair of marks or None."""
    found = []
    for k in range(LAGS + 1):
        for i, j in itertools.product(range(p), repeat=2):
            marks = lag(k)[i, j] if k or i < j else None
            if marks:
                found.append(((LAGS - k) * p + i, LAGS * p + j, *marks))
    return found


def causal_learn(algorithm, test, alpha):
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.search.ConstraintBased.PC import pc

    name = {"fisherz": "fisherz", "gsq": "gsq", "chisq": "chisq", "kci": "kci", "rcot": "rcit", "testwise": "mv_fisherz"}[test]

    def search(data):
        x = data.to_numpy(float)
        if algorithm == "pc":
            graph = pc(x, alpha, name, show_progress=False).G
        else:
            graph = fci(x, name, alpha, show_progress=False)[0]
        return lambda: of_marks(graph.graph, {-1: 3, 1: 2, 2: 1})

    return search


def andrey(algorithm, test, alpha):
    import andrey as program

    name = {"mixed": "cond_gauss", "degenerate": "degen_gauss", "knn": "cmiknn"}.get(test, test)

    def search(data):
        if algorithm in ("pcmci", "pcmciplus"):
            level = {"alpha_level" if algorithm == "pcmci" else "pc_alpha": alpha}
            found = getattr(program, algorithm)(data, tau_max=LAGS, **level).structure

            def lag(k):
                pairs = np.full((data.shape[1],) * 2, None)
                if k in list(found.lags):
                    # [i, j] is the mark at i. At a lag, an edge from i to j has an arrowhead at j, whatever is at i.
                    marks = found.lag(k).to_numpy()
                    for i, j in np.argwhere(marks.T == 2 if k else marks):
                        pairs[i, j] = (3, 2) if k else (4 - marks[i, j], 4 - marks[j, i])
                return pairs

            return lambda: of_lags(lag, data.shape[1])

        frame = data
        if test in ("mixed", "degenerate"):
            frame = data.astype({c: "category" for c in data if data[c].dtype.kind == "i"})
        found = getattr(program, algorithm)(frame, alpha=alpha, indep_test=name).structure
        return lambda: of_marks(found.to_numpy(), {1: 3, 2: 2, 3: 1})

    return search


def tigramite(algorithm, test, alpha):
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.cmiknn import CMIknn
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    def search(data):
        kind = CMIknn(knn=0.1, sig_samples=100, workers=1) if test == "knn" else ParCorr()
        tool = PCMCI(dataframe=DataFrame(data.to_numpy(float)), cond_ind_test=kind)
        if algorithm == "pcmci":
            graph = tool.run_pcmci(tau_min=1, tau_max=LAGS, alpha_level=alpha)["graph"]
        else:
            graph = tool.run_pcmciplus(tau_min=0, tau_max=0 if algorithm == "pc" else LAGS, pc_alpha=alpha)["graph"]

        def lag(k):
            cells = graph[:, :, k] if k < graph.shape[2] else np.full(graph.shape[:2], "")
            pairs = np.full(cells.shape, None)
            for i, j in zip(*np.nonzero(cells)):
                pairs[i, j] = (DASH_MARKS[cells[i, j][0]], DASH_MARKS[cells[i, j][2]])
            # An undecided edge within a step is o-o, which a CPDAG writes with tails.
            undecided = [(i, j) for i, j in np.argwhere(pairs != None) if pairs[i, j] == (1, 1)]  # noqa: E711
            for i, j in undecided:
                pairs[i, j] = (3, 3)
            return pairs

        if algorithm == "pc":
            return lambda: [(i - LAGS * p, j - LAGS * p, a, b) for i, j, a, b in of_lags(lag, p) if i >= LAGS * p]
        return lambda: of_lags(lag, p)

    return search


def tetrad(algorithm, test, alpha):
    import jpype
    import jpype.imports

    if not jpype.isJVMStarted():
        java = os.path.join(os.environ.get("JAVA_HOME", ""), "lib/server/libjvm.so")
        jpype.startJVM(java if os.path.exists(java) else jpype.getDefaultJVMPath(), classpath=[os.environ["TETRAD_JAR"]])
    from edu.cmu.tetrad import data as parts
    from edu.cmu.tetrad import search as searches
    from edu.cmu.tetrad.search import test as tests
    from java.util import ArrayList

    def converted(data):
        variables = ArrayList()
        columns = [data[c].to_numpy() for c in data]
        is_level = [c.dtype.kind == "i" for c in columns]
        for i, column in enumerate(columns):
            name = f"X{i + 1}"
            variables.add(parts.DiscreteVariable(name, int(column.max()) + 1) if is_level[i] else parts.ContinuousVariable(name))
        doubles = jpype.JArray(jpype.JDouble, 2)
        integers = jpype.JArray(jpype.JInt, 2)
        if all(is_level):
            box = parts.VerticalIntDataBox(integers([c.tolist() for c in columns]))
        elif not any(is_level):
            box = parts.VerticalDoubleDataBox(doubles([c.tolist() for c in columns]))
        else:
            box = parts.MixedDataBox(
                variables,
                len(data),
                doubles([None if level else c.tolist() for c, level in zip(columns, is_level)]),
                integers([c.tolist() if level else None for c, level in zip(columns, is_level)]),
            )
        return parts.BoxDataSet(box, variables)

    def tester(dataset):
        if test in ("fisherz", "testwise"):
            return tests.IndTestFisherZ(dataset, alpha)
        if test == "mixed":
            return tests.IndTestConditionalGaussianLrt(dataset, alpha, True)
        if test == "degenerate":
            found = tests.IndTestDegenerateGaussianLrt(dataset)
            found.setAlpha(alpha)
            return found
        return {"gsq": tests.IndTestGSquare, "chisq": tests.IndTestChiSquare, "kci": tests.Kci}[test](dataset, alpha)

    name = {"pc": "Pc", "fci": "Fci", "rfci": "Rfci"}[algorithm]
    code = {"TAIL": 3, "ARROW": 2, "CIRCLE": 1}

    def search(data):
        found = getattr(searches, name)(tester(data)).search()

        def edges():
            for e in found.getEdges():
                i, j = (int(str(node.getName())[1:]) - 1 for node in (e.getNode1(), e.getNode2()))
                yield i, j, code[str(e.getEndpoint1().name())], code[str(e.getEndpoint2().name())]

        return lambda: list(edges())

    search.prepare = converted
    return search


def ramble(algorithm, test, alpha):
    def search(data):
        out = f"{data}.dot"
        rows, columns = pd.read_csv(data).shape
        bare = f"{data}.bare"
        with open(data) as text, open(bare, "w") as file:
            file.writelines(text.readlines()[1:])
        call = [os.environ["RAMBLE"], "-f", bare, "-n", str(columns), "-m", str(rows), "-a", "pc.stable", "-p", str(alpha)]
        env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        said = subprocess.run([*call, "-d", "-o", out], capture_output=True, text=True, check=True, env=env).stdout
        own = float(re.search(r"getting the network: ([0-9.e+-]+)", said)[1])

        def edges():
            for a, b in re.findall(r"dir=forward\] V(\d+) -[->] V(\d+)", open(out).read()):
                yield int(a) - 1, int(b) - 1, 3, 2
            for a, b in re.findall(r"dir=none\] V(\d+) -- V(\d+)", open(out).read()):
                yield int(a) - 1, int(b) - 1, 3, 3

        return edges, own

    return search


PROGRAMS = {"causal-learn": causal_learn, "Andrey": andrey, "tigramite": tigramite, "Tetrad": tetrad, "ramBLe": ramble}


def version(program):
    if program == "Tetrad":
        return re.search(r"(\d+\.\d+\.\d+)", os.path.basename(os.environ["TETRAD_JAR"]))[1]
    if program == "ramBLe":
        return "1.0 of 2021-07-21"
    return importlib.metadata.version({"Andrey": "andrey-core"}.get(program, program))


def main():
    global p
    folder, program, method, alpha, threads = sys.argv[1:6]
    print(f"version,{version(program)}", flush=True)
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent):
        search = PROGRAMS[program](*method.split("/"), float(alpha))
        if program == "Andrey":
            import andrey as package

            package.config(num_workers=int(threads))
    for seed in itertools.count(1):
        path = os.path.join(folder, f"{seed}.csv")
        if not os.path.exists(path):
            break
        data = path if program == "ramBLe" else pd.read_csv(path)
        p = 0 if program == "ramBLe" else data.shape[1]
        if hasattr(search, "prepare"):
            data = search.prepare(data)
        seconds = []
        with contextlib.redirect_stdout(silent):
            while len(seconds) < 4 and not (seconds and seconds[0] >= 2):
                began = time.perf_counter()
                edges = search(data)
                seconds.append(time.perf_counter() - began)
                if program == "ramBLe":
                    edges, seconds[-1] = edges
        for i, j, at_i, at_j in edges():
            print(f"{seed},0,{i + 1},{j + 1},{at_i},{at_j}")
        print(f"{seed},{statistics.median(seconds[1:] or seconds):.6g},0,0,0,0", flush=True)


main()
