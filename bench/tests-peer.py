"""Answers conditional independence tests by causal-learn's KCI and RCIT, or tigramite's CMIknn, for tests.R.

  python tests-peer.py DATA.csv SAMPLES KIND

DATA.csv: no header, the rows of all samples one after the other; columns x, y and the given variables. Prints the
milliseconds of a test, which leave out the first, and then the p-value of each sample.
"""

import contextlib
import io
import sys
import time

import numpy as np


def tests(kind):
    """Returns a function of a sample that returns p."""
    if kind == "CMIknn":
        from tigramite.independence_tests.cmiknn import CMIknn

        test = CMIknn(significance="shuffle_test", sig_samples=100, workers=1, verbosity=0)

        def answer(x):
            given = x[:, 2:] if x.shape[1] > 2 else None
            return test.run_test_raw(x[:, :1], x[:, 1:2], given)[1]

        return answer
    from causallearn.utils.cit import CIT

    return lambda x: CIT(x, kind.lower())(0, 1, list(range(2, x.shape[1])))


def main():
    path, samples, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with contextlib.redirect_stdout(io.StringIO()):
        answer = tests(kind)
        found, seconds = [], []
        for sample in np.split(np.loadtxt(path, delimiter=","), samples):
            began = time.perf_counter()
            found.append(float(answer(sample)))
            seconds.append(time.perf_counter() - began)
    print(1000 * np.mean(seconds[1:] or seconds))
    print("\n".join(str(p) for p in found))


if __name__ == "__main__":
    main()
