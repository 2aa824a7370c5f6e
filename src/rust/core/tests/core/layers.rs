//! Checks that no layer uses those below it. Modules of one folder must not use each other in a circle, in the core or in the boundary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules that each layer may use besides itself, the error and `shown`.
const LAYERS: [(&str, &[&str]); 28] = [
    ("error", &[]),
    ("memory", &[]),
    ("observer", &[]),
    ("team", &[]),
    ("random", &[]),
    ("numbers", &[]),
    ("simd", &[]),
    ("panels", &["simd"]),
    ("pool", &["memory"]),
    ("matrix", &["pool"]),
    ("moments", &["memory", "matrix", "numbers", "simd", "panels", "pool"]),
    ("planes", &["memory", "pool"]),
    ("file", &["error", "memory", "pool"]),
    ("graph", &["memory", "simd", "pool"]),
    ("ci", &["memory", "matrix", "random", "simd", "panels", "pool"]),
    ("local", &["memory", "observer", "matrix", "numbers", "moments", "pool", "graph", "ci"]),
    ("search", &["memory", "observer", "team", "matrix", "pool", "graph", "ci"]),
    ("selection", &["memory", "observer", "team", "random", "pool", "ci"]),
    ("orient", &["memory", "pool", "graph", "ci"]),
    ("pag", &["memory", "pool", "graph", "ci", "orient"]),
    ("fci", &["observer", "pool", "graph", "ci", "search", "orient", "pag"]),
    ("flat", &["memory", "matrix", "moments", "pool", "planes", "graph", "ci", "search", "orient"]),
    ("background", &["graph", "search", "orient", "pag"]),
    ("effects", &["memory", "observer", "matrix", "pool", "graph"]),
    ("simulation", &["memory", "observer", "random", "pool", "graph"]),
    ("assessment", &["memory", "random", "graph", "ci", "orient"]),
    (
        "engine",
        &[
            "memory",
            "observer",
            "team",
            "matrix",
            "numbers",
            "simd",
            "panels",
            "moments",
            "random",
            "pool",
            "file",
            "graph",
            "ci",
            "search",
            "selection",
            "error",
        ],
    ),
    (
        "stability",
        &[
            "memory",
            "observer",
            "matrix",
            "numbers",
            "moments",
            "random",
            "pool",
            "graph",
            "ci",
            "search",
            "selection",
            "orient",
            "effects",
            "engine",
        ],
    ),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the items of a list in braces that stand after its opening brace.
fn items(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                found.push(&list[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

/// The sources of the core and of the boundary, each with a number of files that it exceeds.
const CORE: (&str, usize) = ("src", 80);
const BOUNDARY: (&str, usize) = ("../src", 30);

/// Returns the code of each file of a crate with its place, without tests and comments, which may name anything.
fn codes((root, least): (&str, usize)) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > least, "{}", files.len());
    let code = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.split("#[cfg(test)]\nmod tests").next().unwrap().lines();
        lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let place = |file: &PathBuf| file.strip_prefix(&root).unwrap().to_path_buf();
    files.iter().map(|file| (place(file), code(file))).filter(|(place, _)| !place.ends_with("shuffled.rs")).collect()
}

/// Returns the module of a file as a path from the root: `engine/cpu/mod.rs` is `["engine", "cpu"]`.
fn module(place: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        place.with_extension("").iter().map(|name| name.to_str().unwrap().to_string()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// Returns the paths that a module's code names after `crate::` and `super::`, from the root. Paths in braces are listed one by one.
fn named(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (keyword, start) in [("crate::", &module[..0]), ("super::", module)] {
        for (at, _) in code.match_indices(keyword) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') || code[..at].ends_with("super::") {
                continue;
            }
            let (mut rest, mut path) = (&code[at..], start.to_vec());
            while let Some(later) = rest.strip_prefix("super::") {
                path.pop();
                rest = later;
            }
            rest = rest.strip_prefix("crate::").unwrap_or(rest);
            while let Some((name, later)) = rest.split_once("::").filter(|(name, _)| is_name(name)) {
                path.push(name.to_string());
                rest = later;
            }
            let ends: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => items(list),
                None => vec![rest],
            };
            for end in ends {
                let last =
                    end.trim().split("::").next().unwrap().split(|c: char| !c.is_alphanumeric() && c != '_').next();
                found.push([&path[..], &[last.unwrap().to_string()]].concat());
            }
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns, for each folder, which of its modules use which others.
fn uses_by_folder(root: (&str, usize)) -> BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> {
    let codes = codes(root);
    let modules: BTreeSet<Vec<String>> = codes.iter().map(|(place, _)| module(place)).collect();
    let mut uses: BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (place, code) in &codes {
        let own = module(place);
        for path in named(&own, code) {
            let shared = own.iter().zip(&path).take_while(|(a, b)| a == b).count();
            // If one of the two is the folder itself, they may use each other: its `mod.rs` uses its modules, and they use it.
            if shared < own.len() && shared < path.len() && modules.contains(&path[..=shared]) {
                let of_folder = uses.entry(own[..shared].to_vec()).or_default();
                of_folder.entry(own[shared].clone()).or_default().insert(path[shared].clone());
            }
        }
    }
    uses
}

/// Returns the modules that are left after all modules that use no others are removed, again and again: circles, and modules that use them.
fn circle(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let mut left = uses.clone();
    loop {
        let known: BTreeSet<String> = left.keys().cloned().collect();
        left.values_mut().for_each(|used| used.retain(|name| known.contains(name)));
        let before = left.len();
        left.retain(|_, used| !used.is_empty());
        if left.len() == before {
            return left;
        }
    }
}

#[test]
fn no_modules_of_a_folder_know_each_other_in_a_circle() {
    let core = uses_by_folder(CORE);
    assert!(core.len() > 10, "{}", core.len());
    for (root, uses) in [(CORE.0, core), (BOUNDARY.0, uses_by_folder(BOUNDARY))] {
        for (folder, uses) in &uses {
            let left = circle(uses);
            assert!(left.is_empty(), "a circle in {root}/{}: {left:?}", folder.join("/"));
        }
    }
}

#[test]
fn circles_are_found() {
    let own = |text: &str| text.split('/').map(String::from).collect::<Vec<_>>();
    let code = "use super::{b, c::D};\nuse crate::x::{y::Z, w};\nlet a = super::super::e::f();";
    let found: BTreeSet<String> = named(&own("m/n/a"), code).iter().map(|path| path.join("/")).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["m/e/f", "m/n/b", "m/n/c", "x/w", "x/y"]);
    let uses = |pairs: &[(&str, &str)]| {
        let one = |(from, to): &(&str, &str)| (from.to_string(), BTreeSet::from([to.to_string()]));
        pairs.iter().map(one).collect::<BTreeMap<_, _>>()
    };
    assert!(circle(&uses(&[("a", "b"), ("b", "c")])).is_empty());
    assert_eq!(circle(&uses(&[("a", "b"), ("b", "c"), ("c", "b"), ("d", "e")])).len(), 3);
}

#[test]
fn no_layer_knows_those_below_it() {
    for (place, code) in codes(CORE) {
        let layer = place.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if layer == "lib" {
            continue;
        }
        let (_, allowed) = LAYERS.iter().find(|(name, _)| *name == layer).expect("a layer in the list");
        for name in named(&module(&place), &code).iter().filter_map(|path| path.first()) {
            let is_module = LAYERS.iter().any(|(other, _)| other == name);
            assert!(
                !is_module || name == layer || allowed.contains(&name.as_str()),
                "{} uses crate::{name}, which lies below its layer",
                place.display()
            );
        }
    }
}

#[test]
fn names_are_found_behind_crate_and_super() {
    let code = "use crate::engine::cpu;\nuse crate::{ci::{Batch, gauss::{self, Gauss}}, graph::Adjacency, Error};\n\
        let a = crate::pool::Pool::none();\nuse super::super::orient::Pdag;";
    let own = ["search", "ledger"].map(String::from);
    let names: BTreeSet<String> = named(&own, code).into_iter().map(|path| path[0].clone()).collect();
    let wanted = ["Error", "ci", "engine", "graph", "orient", "pool"];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), wanted);
}
