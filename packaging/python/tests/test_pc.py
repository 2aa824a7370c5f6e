"""Compares pc() with pcalg's answers in tests/testthat/golden. PCGPU_TEST_CUDA=1 compares those of a GPU, too."""

import gzip
import json
import os
import pathlib
import signal
import threading
import time

import numpy as np
import pytest

import pcgpu

GOLDEN = pathlib.Path(__file__).resolve().parents[3] / "tests" / "testthat" / "golden"
NAMES = ["p2", "p8", "p15-dense", "p20-mmax1", "p40-n60", "p100", "p10-duplicate-column"]
DEVICES = ["cpu", "cuda"] if os.environ.get("PCGPU_TEST_CUDA") == "1" else ["cpu"]


def recorded(name):
    with gzip.open(GOLDEN / f"gauss-{name}.json.gz") as file:
        return json.load(file)


def equicorrelated(p):
    """Returns correlations that keep a search busy: every pair has the same."""
    return np.full((p, p), 0.5) + 0.5 * np.eye(p)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_pcalgs(name, device):
    case = recorded(name)
    p, found = case["p"], case["skeleton"]["stable"]
    C = np.array(case["C"], dtype=float)
    cpdag, sepsets, n_tests = pcgpu.pc(C, case["n"], case["alpha"], m_max=case["m_max"], device=device)

    assert cpdag.dtype == np.int8
    edges = [[x + 1, y + 1] for x, y in np.argwhere(np.triu(cpdag + cpdag.T)).tolist()]
    assert edges == found["edges"]
    if case["pc_from_stable"]:
        expected = np.zeros((p, p), dtype=np.int8)
        for i, j, mark in case["pc_from_stable"]["relaxed"]["amat"]:
            expected[i - 1, j - 1] = mark
        np.testing.assert_array_equal(cpdag, expected)

    sets = {(entry["x"] - 1, entry["y"] - 1): tuple(v - 1 for v in entry["S"]) for entry in found["sepset"]}
    for x in range(p):
        for y in range(p):
            assert sepsets[x, y] == sets.get((x, y), sets.get((y, x)))
    assert n_tests == found["n_edgetests"]


def test_threads_and_layouts_do_not_change_the_answer():
    case = recorded("p60")
    C = np.array(case["C"])
    twice = np.zeros((120, 120))
    twice[::2, ::2] = C
    cpdag, _, n_tests = pcgpu.pc(C, case["n"], case["alpha"], threads=1)
    for other in [np.asfortranarray(C), twice[::2, ::2], C.tolist()]:
        again, _, counts = pcgpu.pc(other, case["n"], case["alpha"], threads=2)
        np.testing.assert_array_equal(again, cpdag)
        assert counts == n_tests


def test_auto_answers_with_and_without_a_gpu():
    cpdag, _, n_tests = pcgpu.pc(np.eye(500), 100, 0.01)
    assert not cpdag.any()
    assert n_tests == [500 * 499 / 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": [[1, 0.5], [0.4, 1]]}, "`C` is not a correlation matrix without NaN: use"),
        ({"C": [[1, np.nan], [np.nan, 1]]}, "`C` is not a correlation matrix without NaN: use"),
        ({"C": [[1]]}, "`p` is 1: give"),
        ({"n": 0}, "`n` is 0: give the sample size"),
        ({"alpha": 2}, "`alpha` is 2: give"),
        ({"threads": 0}, "`threads` is 0: give"),
        ({"device": "gpu"}, '`device` is "gpu": give'),
    ],
)
def test_errors_name_the_argument_its_value_and_a_remedy(change, message):
    given = {"C": np.eye(2), "n": 100, "alpha": 0.01, "device": "cpu", **change}
    with pytest.raises(ValueError) as caught:
        pcgpu.pc(**given)
    assert str(caught.value).startswith(message)


def test_pairs_outside_the_graph_have_no_set():
    _, sepsets, _ = pcgpu.pc(np.eye(2), 100, 0.01)
    assert sepsets[0, 1] == ()
    with pytest.raises(IndexError):
        sepsets[0, 2]


def test_ctrl_c_ends_a_search():
    # pthread_kill() sends the signal to this thread, as a terminal does.
    timer = threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        pcgpu.pc(equicorrelated(60), 10**9, 0.01, device="cpu")
    assert time.perf_counter() - began < 5


def test_other_threads_of_python_run_during_a_search():
    counts = []
    timer = threading.Timer(1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    counter = threading.Thread(target=lambda: counts.extend(time.sleep(0.01) or at for at in range(50)))
    timer.start()
    counter.start()
    with pytest.raises(KeyboardInterrupt):
        pcgpu.pc(equicorrelated(60), 10**9, 0.01, device="cpu")
    assert len(counts) >= 20
