"""Answers conditional independence tests by causal-learn's KCI and RCIT or by tigramite's CMIknn, for tests.R.

  python tests-peer.py DATA.csv SAMPLES KIND

KIND: KCI, RCIT or CMIknn. DATA.csv: no header, the rows of all samples one after the other; columns x, y and the given
variables. Prints the milliseconds of a test, which leave out the first, and then the p-value of each sample. CMIknn has
the settings of suff_knn(): k is 0.1 n, and 100 permutations draw among five neighbours.
"""

import contextlib
import io
import sys
import time

import numpy as np


def causal_learn(kind):
    from causallearn.utils.cit import CIT

    return lambda sample: CIT(sample, kind.lower())(0, 1, list(range(2, sample.shape[1])))


def tigramite():
    from tigramite.independence_tests.cmiknn import CMIknn

    test = CMIknn(knn=0.1, shuffle_neighbors=5, significance="shuffle_test", sig_samples=100, workers=1)

    def p_value(sample):
        # Variables are rows here.
        array, xyz = sample.T.copy(), np.array([0, 1] + [2] * (sample.shape[1] - 2))
        value = test.get_dependence_measure(array.copy(), xyz)
        return test.get_shuffle_significance(array, xyz, value)

    return p_value


def main():
    path, samples, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    found, seconds = [], []
    with contextlib.redirect_stdout(io.StringIO()):
        p_value = tigramite() if kind == "CMIknn" else causal_learn(kind)
        for sample in np.split(np.loadtxt(path, delimiter=","), samples):
            began = time.perf_counter()
            found.append(float(p_value(sample)))
            seconds.append(time.perf_counter() - began)
    print(1000 * np.mean(seconds[1:] or seconds))
    print("\n".join(str(p) for p in found))


if __name__ == "__main__":
    main()
