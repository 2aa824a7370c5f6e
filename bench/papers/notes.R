# Holds the text of PAPERS.md: its head, the titles of papers, and the differences that hold for all rows of an item.
# table.R sources it.
head_of_page <- c(
  "# The papers' experiments",
  "",
  "Four papers and a thesis, table by table. Each number that they print has a row, with ours next to it. Left out are ratios that follow from printed seconds, and tables of data and",
  "machines. `bench/papers/published.csv` has the numbers and names the runs to compare, and `runs.csv` has the runs. `make papers` packs what repeats them. Seconds are minimum /",
  "median of the repeats after a first run, or one run.",
  "",
  "- published: the printed number, in seconds unless a unit is given, with the hardware",
  "- theirs here: their mapping of tests to threads on our GPU, as a kernel of pcgpu (`strategy` of `cuda_device()`). It is **no run of the authors' programs**. It returns pcalg's",
  "  separating sets and counts, of both sides of a pair, and theirs need not. If a row says \"slower here than published\", that costs more than a newer GPU gains. The published",
  "  number is then the fairer one",
  "- ours: pcgpu's own kernels (`strategy = \"shared\"`), or its CPU engine if the row says so",
  "- published / ours is a ratio across machines, and theirs here / ours is a ratio on one GPU. A remark marks ratios that are smaller than the advantage of the GPU alone in memory",
  "  bandwidth or TFLOP/s in single precision",
  "",
  "How \"theirs here\" differs from theirs, besides these duties:",
  "",
  "- cuPC and gpucsl: the papers compute a pseudo-inverse for each test or set. These kernels invert by Gauss-Jordan elimination (cuPC) or eliminate (gpucsl). They compute the",
  "  pseudo-inverse only if the result cannot be trusted",
  "- gpuPC: level 0 is the thesis's algorithm 9. Tables of more than",
  "  4,194,304 cells go to the CPU; the paper has managed memory. Its kernels and those of disc-cupc read 16 samples at a time, as ours do",
  "- cuPC: the first side of a pair is tested to its end, because pcalg's separating set is the first. cuPC stops at any separating set of either side. A block has 48 KB for its row",
  "  and working memory: longer rows (3,600 neighbours by cuPC-S's mapping, 11,000 by cuPC-E's, fewer for sets of more than two) are read from the GPU's memory. cuPC copies all",
  "- GPU_CMIknn: which sample has a neighbour is determined by the seed, not by a race. Launches are short, so that Ctrl-C works. If n and k are thousands, a launch has fewer threads",
  "  than the GPU can hold",
  "- blocks and unified memory of the thesis: our blocks are rows of the matrix, of pairs of blocks in theirs",
  "- CUDA-JMI: the joining on the CPU is plain, and not tuned",
  "",
  "Surrogates have the shapes of data that are not available: BR51, S. cerevisiae, DREAM5-Insilico and TCGA. No row has a ratio of a surrogate to a published time. The surrogates of",
  "BR51 and S. cerevisiae make 6 and 45 % of the published tests (table 4.2). cuPC-E spends 10 % of its time at levels 1 to 5 of the surrogate of DREAM5, and nearly all of it in the",
  "paper (figure 6). So they are easier problems, or different ones.",
  "",
  "Runs compare times. tests/core/papers_cuda.rs and similar tests check that all strategies give one answer."
)

authors <- c(
  "Three programs of the authors ran on 29 November 2026 on one of two NVIDIA H200 with 8 cores of an Intel Xeon, in the session of the runs above (minimum / median). They were built there",
  "with nvcc 13.0 for sm_90 or by CuPy 14.2, outside this repository, and are not part of it. Not to be had: cuPC-E, gpuPC's own code, CUDA-JMI.",
  "",
  "- cuPC-S (github.com/LIS-Laboratory/cupc): the compiled function with its allocations and copies, thresholds of pcalg (its R file is one level off), last level 14",
  "- gpucsl (github.com/hpi-epic/gpucsl): with pcalg's thresholds for Gaussian data, 17 GB of working memory for discrete data, Jitify left out, kernels as they are. Its last level is one",
  "  more than ours reaches, as it must be given",
  "- GPU_CMIknn (github.com/ChristopherSchmidt89/gpucmiknn): single tests of random Gaussian data by GPUKNNCMI-Single, called by ctypes instead of Boost; k is at most 200",
  "",
  "All three return the first separating set that a thread finds. Numbers of edges equal ours, except gpucsl's on MCC (1,615 of 1,618)."
)

titles <- c(
  cupc = "cuPC (Zarebavani and others 2020)",
  gpupc = "gpuPC (Hagedorn and Huegle 2021; the thesis's tables 6.7 and 6.8)",
  dissertation = "The thesis (Hagedorn 2023): experiments that no other paper has",
  cmiknn = "GPU_CMIknn (Hagedorn and others 2022; the thesis's tables 6.10 to 6.16)",
  `cuda-jmi` = "CUDA-JMI (Gonz\u00e1lez-Dom\u00ednguez and others 2020)"
)

of_one_core <- "The paper prints ratios to one core of its CPU. Ours are seconds, because that program was not run here: compare within a column."
notes <- c(
  "cupc, figure 7" = paste(
    "Single runs after one that opens the GPU; on NCI-60, medians of two. All 30 shapes of the paper on NCI-60, MCC, S. aureus and BR51, the 6 that the paper discusses on DREAM5, 6 on",
    "S. cerevisiae."
  ),
  "cupc, figure 8" = "Single runs after one that opens the GPU. All 16 shapes of the paper; on S. cerevisiae 5.",
  "cupc, figure 10" = "Ours: one graph (theirs: ten), one run after a first one, alpha 0.05 if theirs is not named. The sweeps have the other points.",
  "gpupc, table 2" = paste(
    "Theirs force numbers of tests and of edges. Ours come from data whose edges all stay at level 1, a problem of another shape, and from level 0. Compare ratios only within a row of",
    "theirs. By samples and by tests of an edge, ours have 50 and 200 variables, and theirs 1,000."
  ),
  "dissertation, table 4.2" = paste(
    "Ours are n.edgetests of `skeleton(method = \"stable.fast\")` on the CPU, from correlations by R's cor(). No GPU takes part. On their own data (NCI-60, MCC, S. aureus) they are the",
    "published numbers to the last test. MCC has five pairs of equal columns. Correlations with other rounding, as in `search_times`, make 21,897,790 tests of it."
  ),
  "dissertation, table 6.6, end to end" = paste(
    "Theirs are medians of ten runs: adjacency search, orientation and, for gpucsl, compilation at run time. Most of gpucsl's seconds on the smaller data are compilation. Ours: pc() from",
    "the data in memory, with correlations or levels, as the first call of a new R process. That call opens the GPU, in 0.22 to 0.27 s on an H200 (results.csv, suite first); minimum and",
    "median of five processes. Later calls do not pay that. The sweeps have whole processes, from the start of R. This also holds for table 6.9."
  ),
  "dissertation, table 6.6, orientation" = "Ours: orient() in R, of a skeleton from the same data. This also holds for table 6.9.",
  "dissertation, section 6.2.1, about figure 6.2" = paste(
    "Ours is sm__cycles_active.avg.pct_of_peak_sustained_elapsed of Nsight Compute: the share of cycles in which a multiprocessor has a warp. It is that of the kernels that test,",
    "weighted by their time. An H100 has 132 multiprocessors and a Titan X has 24, so it takes more tests to keep an H100 busy."
  ),
  "dissertation, table 6.17" = paste(
    "Ours are times of one level in single runs to level 1, from when it began to when the next began or the run ended; the end includes the transfer of the result. From 50,000",
    "variables, theirs exceeds the V100's 32 GB, so that pages move back and forth. All of ours fits into the GPU's memory: no run of ours takes more of a GPU than is free. The sweeps",
    "have the seconds."
  ),
  "dissertation, table 6.18" = "On data of this shape. How many edges TCGA's own data leave at level 0 is not published, and decides the time.",
  "cmiknn, table 1 (6.10), by k" = paste(
    "Theirs are medians of 20 tests. So are ours and theirs here, asked one after the other. In a batch, they are seconds a test, of as many tests as take a quarter of a second. This also",
    "holds for tables 2 to 4. Tables 6 to 9 are percentiles of the same tests."
  ),
  "cmiknn, table 5 (6.14), searches by N and k" = paste(
    "Theirs are medians of ten graphs; ours are of one, with edges of probability 0.3.",
    of_one_core
  ),
  "cmiknn, table 6.16, searches by share of discrete variables" = paste(
    "Theirs are medians of ten graphs; ours are of one, with edges of probability 0.3, and k = 7 if theirs is not named. Levels differ by the whole range of a number's ranks.",
    of_one_core
  ),
  "cmiknn, figure 1" = paste(
    "The paper draws minimum, median and maximum. Its median falls to k = 30, is as good to 75, and from 100 on is worse than with k = 7. Ours: graphs and data of the same kind (see",
    "`knn_graphs`). They agree to 75 only: ours with k = 100 are as good as with 30 to 75, and with 150 and 200 still better than with k = 7."
  ),
  "cuda-jmi, table 4" = paste(
    "Theirs are the seconds of the mutual information alone, during which features are joined. Ours and theirs here are whole selections, on simulated data of each set's shape. Values are",
    "uniform over 64 levels, and every tenth feature depends on the class. A ratio to published seconds therefore compares shapes, not data. This also holds for tables 5 and 6. If",
    "samples are few (breast cancer, ECML), steps are so short that they wait for the host, whose speed differs by 1.5 times from host to host. On 26 November one GPU alone took 0.0448 /",
    "0.055 s of breast cancer and two took 0.0291 / 0.0293. On another host the day before, they took 0.03 / 0.0302 and 0.0232 / 0.0268. Ratios of GPUs are therefore not informative",
    "there. On ECML one GPU took 0.0359 / 0.036 s alone and, in these tables, 0.0501 / 0.0515 next to three other runs. Why SVHN's shape gains little is not known."
  )
)
