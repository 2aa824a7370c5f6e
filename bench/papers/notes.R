# The words of PAPERS.md: its head, the titles of papers, and what is unlike in all rows of an item. table.R sources it.
head_of_page <- c(
  "# The papers' experiments",
  "",
  "Four papers and a thesis, table by table: a row for each number that they print, ours beside it; without ratios that follow from printed seconds, and tables of data and machines.",
  "`bench/papers/published.csv` has the numbers and says which runs are beside them, `runs.csv` the runs; `make papers` packs what repeats them. Seconds are minimum / median of the",
  "repeats after a first run, or one run.",
  "",
  "- published: as printed, in seconds where nothing else is said, with the hardware",
  "- theirs here: their mapping of tests to threads on our card, as a kernel of pcgpu (`strategy` of `cuda_device()`). It is **no run of the authors' programs**: it answers with pcalg's",
  "  separating sets and counts, of both sides of a pair, which theirs need not. Where a row says \"slower here than published\", that costs more than a newer card gains, and",
  "  the published number is the fairer one",
  "- ours: pcgpu's own kernels (`strategy = \"shared\"`), or its CPU engine where the row says so",
  "- published / ours is a ratio across machines; theirs here / ours one of the same card. Where the first is less than what the card alone has",
  "  more of, memory bandwidth or TFLOP/s in single precision, the remark says so",
  "",
  "How far theirs here is theirs, beyond the duties above:",
  "",
  "- cuPC and gpucsl: where the papers compute a pseudo-inverse for each test or set, these kernels invert by Gauss-Jordan elimination (cuPC) or eliminate (gpucsl), and",
  "  compute the pseudo-inverse only where that is not to be trusted",
  "- gpuPC: level 0 is the thesis's algorithm 9, but in the runs of b469fbfa36cf the paper's algorithm 2, in which one thread computes the margins, too. Tables of more than",
  "  4,194,304 cells go to the CPU, where the paper has managed memory. Its kernels and those of disc-cupc read 16 samples at a time, as ours do",
  "- cuPC: a row of the graph is read from the card's memory, not copied into a block's shared memory; and a level takes several launches, first for one side of the pairs and",
  "  then for the other, where cuPC has one. The authors' own cuPC-S was run on one H200 on 21 November 2026 (results.csv, suite search; its compiled part, with pcalg's thresholds, medians):",
  "  0.0177 and 0.0294 s on NCI-60 in two runs, 0.0963 and 0.138 s on S. aureus, 0.209 and 0.213 s on DREAM5-Insilico's surrogate. Compare these with \"theirs here\" of table 2",
  "- GPU_CMIknn: the estimate is their kernel, the permutation is not: theirs has a kernel of its own, and Parallel reuses the permutations of x given S for all y. Ours are drawn",
  "  for each test by itself, so that a test has one p-value alone and in a search. A launch is cut so short that Ctrl-C is heard: where n and k are thousands, it has fewer",
  "  threads than the card can hold",
  "- blocks and unified memory of the thesis: blocks run on one card. Its algorithm 17, blocks on several cards, is not there: several cards of ours have the whole matrix each",
  "- CUDA-JMI: the joining on the CPU is plain, and not tuned",
  "",
  "Surrogates stand for the shapes of data that cannot be had, BR51, S. cerevisiae, DREAM5-Insilico and TCGA: no row has a ratio of them to a published time. BR51's and",
  "S. cerevisiae's make 6 and 45 % of the published tests (table 4.2), and cuPC-E spends 10 % of its time at levels 1 to 5 of DREAM5's, where the paper has nearly all of it (figure 6):",
  "they are easier problems, or others.",
  "",
  "Runs compare times; that all strategies give one answer is what tests/core/papers_cuda.rs and its like are for."
)

titles <- c(
  cupc = "cuPC (Zarebavani and others 2020)",
  gpupc = "gpuPC (Hagedorn and Huegle 2021; the thesis's tables 6.7 and 6.8)",
  dissertation = "The thesis (Hagedorn 2023), what is in no other paper",
  cmiknn = "GPU_CMIknn (Hagedorn and others 2022; the thesis's tables 6.10 to 6.16)",
  `cuda-jmi` = "CUDA-JMI (Gonz\u00e1lez-Dom\u00ednguez and others 2020)"
)

of_one_core <- "The paper prints how many times as fast as one core of its CPU; ours are seconds, since that program was not run here: compare within a column."
notes <- c(
  "cupc, figure 7" = paste(
    "Single runs after one that opens the card; of NCI-60 medians of two. All 30 shapes of the paper on NCI-60, MCC, S. aureus and BR51, the 6 that the paper speaks of on DREAM5, 6",
    "on S. cerevisiae."
  ),
  "cupc, figure 8" = "Single runs after one that opens the card. All 16 shapes of the paper; on S. cerevisiae 5.",
  "cupc, figure 10" = "Ours: one graph where theirs are ten, one run after a first one, alpha 0.05 where theirs is not named; the sweeps have the other points.",
  "gpupc, table 2" = paste(
    "Theirs force numbers of tests and of edges. Ours come of data whose edges all stay at level 1, a problem of another shape, and of level 0: ratios are to be compared within a",
    "row of theirs alone. By samples and by tests of an edge ours have 50 and 200 variables where theirs have 1,000."
  ),
  "dissertation, table 4.2" = paste(
    "Ours are n.edgetests of `skeleton(method = \"stable.fast\")` on the CPU, of correlations by R's cor(): no card has a part in them. Where the data are theirs (NCI-60, MCC, S.",
    "aureus) they are the published numbers to the last test. MCC has five pairs of equal columns; correlations that are rounded otherwise, as by `search_times`, make 21,897,790",
    "tests of it."
  ),
  "dissertation, table 6.6, end to end" = paste(
    "Theirs are medians of ten runs, what adjacency search, orientation and, of gpucsl, compilation at run time add up to: most of gpucsl's seconds on the smaller data are",
    "compilation. Ours: pc() from the data in memory, with correlations or levels, as the first call of a new R process, which opens the card (0.22 to 0.27 s where little else is",
    "done, on an H200: results.csv, suite first); minimum and median of five processes. Later calls do not pay that. The sweeps have whole processes, from the start of R.",
    "So, too, table 6.9."
  ),
  "dissertation, table 6.6, orientation" = "Ours: orient() in R, of a skeleton from the same data. So, too, table 6.9.",
  "dissertation, section 6.2.1, about figure 6.2" = paste(
    "Here it is sm__cycles_active.avg.pct_of_peak_sustained_elapsed of Nsight Compute, the share of cycles in which a multiprocessor has a warp, of the level's kernel alone; of",
    "several launches their mean, weighted by time. An H100 has 132 multiprocessors where a Titan X has 24, so that it takes more tests to keep it busy."
  ),
  "dissertation, table 6.17" = paste(
    "Level 1 of ours is the time from its start to the end of a run to level 1, level 0 a whole run to level 0. Both have the handing over of the result, which is most of such a run",
    "by blocks: in the runs to level 1, on one card, managed memory took 0.9 to 5.6 times as long as blocks until level 1 began. From 50,000 variables on theirs is beyond the V100's 32",
    "GB, so that pages go back and forth; all of ours is within the card's 80 GB: no run of ours takes more of a card than is free. All are single runs, from 50,000 on after one that",
    "opens the card or, of several, the cards. Seconds are in the sweeps.",
    "With 60,000 and 70,000 variables the matrix as a whole takes as long as managed memory at levels 0 and 1, and 1.5 and 2.3 times as long as blocks; with 80,000, whose level 1 goes in",
    "slices of up to 256 variables, with managed memory, too, it takes less than a tenth of managed memory's time. Why is not known. Of 80,000 variables, and of two cards with 50,000 and",
    "more, the runs are of d431d0d1fe96."
  ),
  "dissertation, table 6.18" = "Of data of this shape: how many edges TCGA's own data leave at level 0 is not published, and decides the time.",
  "cmiknn, table 1 (6.10), by k" = paste(
    "Theirs are medians of 20 tests. So are ours, asked one after the other, and theirs here; in a batch, seconds a test of as many as take a quarter of a second. So, too, tables 2",
    "to 4; tables 6 to 9 are percentiles of the same tests."
  ),
  "cmiknn, table 5 (6.14), searches by N and k" = paste(
    "Theirs are medians of ten graphs; ours are of one, with edges of probability 0.3.",
    of_one_core
  ),
  "cmiknn, table 6.16, searches by share of discrete variables" = paste(
    "Theirs are medians of ten graphs; ours are of one, with edges of probability 0.3, and k = 7, where theirs is not named. Levels are the whole range of a number's ranks apart.",
    of_one_core
  ),
  "cmiknn, figure 1" = paste(
    "The paper draws minimum, median and maximum: the median falls to k = 30, is as good to 75, and from 100 on is worse than with k = 7. Ours: graphs and data of the same kind (see",
    "`knn_graphs`). They agree to 75 only: ours with k = 100 are as good as with 30 to 75, and with 150 and 200 still better than with k = 7."
  ),
  "cuda-jmi, table 4" = paste(
    "Theirs are the seconds of the mutual information alone, which the joining of features goes beside; ours, and theirs here, of whole selections, on simulated data of each set's",
    "shape: values are uniform over 64 levels, and every tenth feature depends on the class. So a ratio to published seconds compares shapes, not data. So, too, tables 5 and 6. Where",
    "samples are few (breast cancer, ECML) steps are so short that they wait for the host, whose speed differs by 1.5 times from host to host: alone one card took 0.0448 / 0.055 s of",
    "breast cancer and two 0.0291 / 0.0293 on 26 November, but 0.03 / 0.0302 and 0.0232 / 0.0268 on another host the day before. So ratios of cards tell little there; of ECML one card",
    "took 0.0359 / 0.036 s alone and, in these tables, 0.0501 / 0.0515 beside three other runs. Why SVHN's shape gains little is not known."
  )
)
