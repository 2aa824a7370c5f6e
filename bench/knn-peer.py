"""Answers conditional independence tests by tigramite's CMIknn or CMIknnMixed, for knn.R.

  python knn-peer.py DATA.csv KIND K PERMUTATIONS TRANSFORM < questions > answers

DATA.csv: no header, samples in rows; a last line of 0 and 1 says which columns are discrete. KIND: continuous or mixed.
A question is a line "x y s1 s2 ...", columns from 1; its answer a line "p seconds". Seconds are those of the test alone,
without the start of Python, which compiles what it needs at a first question that is not counted.
"""

import contextlib
import io
import sys
import time

import numpy as np

with contextlib.redirect_stdout(io.StringIO()):
    from tigramite.independence_tests.cmiknn import CMIknn
    from tigramite.independence_tests.cmiknn_mixed import CMIknnMixed


def main():
    path, kind, k, permutations, transform = sys.argv[1:6]
    rows = np.loadtxt(path, delimiter=",")
    data, discrete = rows[:-1], rows[-1].astype(int)
    common = dict(
        knn=int(k), shuffle_neighbors=5, significance="shuffle_test", sig_samples=int(permutations), sig_blocklength=1,
        transform=transform, verbosity=0,
    )
    test = CMIknn(workers=1, **common) if kind == "continuous" else CMIknnMixed(estimator="MS", workers=1, **common)

    def ask(columns):
        # Variables are rows here, and are copied: the mixed test transforms its caller's array.
        array = data[:, columns].T.copy()
        types = np.repeat(discrete[columns][:, None], len(data), axis=1)
        xyz = np.array([0, 1] + [2] * (len(columns) - 2))
        began = time.perf_counter()
        if kind == "continuous":
            value = test.get_dependence_measure(array.copy(), xyz)
            p = test.get_shuffle_significance(array.copy(), xyz, value)
        else:
            value = test.get_dependence_measure(array.copy(), xyz, data_type=types)
            p = test.get_shuffle_significance(array.copy(), xyz, value, data_type=types)
        return p, time.perf_counter() - began

    with contextlib.redirect_stdout(io.StringIO()):
        ask([0, 1] if data.shape[1] == 2 else [0, 1, 2])
    for line in sys.stdin:
        with contextlib.redirect_stdout(io.StringIO()):
            p, seconds = ask([int(column) - 1 for column in line.split()])
        print(f"{p:.17g} {seconds:.6f}", flush=True)


main()
