"""Answers conditional independence tests by causal-learn's KCI and RCIT, for tests.R.

  python tests-peer.py DATA.csv SAMPLES KIND

KIND: KCI or RCIT. DATA.csv: no header, the rows of all samples one after the other; columns x, y and the given
variables. Prints the milliseconds of a test, which leave out the first, and then the p-value of each sample.
"""

import sys
import time

import numpy as np
from causallearn.utils.cit import CIT


def main():
    path, samples, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    found, seconds = [], []
    for sample in np.split(np.loadtxt(path, delimiter=","), samples):
        began = time.perf_counter()
        found.append(float(CIT(sample, kind.lower())(0, 1, list(range(2, sample.shape[1])))))
        seconds.append(time.perf_counter() - began)
    print(1000 * np.mean(seconds[1:] or seconds))
    print("\n".join(str(p) for p in found))


if __name__ == "__main__":
    main()
