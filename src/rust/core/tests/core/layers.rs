//! No layer knows those below it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What each layer may know beside itself, the error and `shown`.
const LAYERS: [(&str, &[&str]); 11] = [
    ("error", &[]),
    ("memory", &[]),
    ("observer", &[]),
    ("matrix", &[]),
    ("pool", &["memory"]),
    ("graph", &["memory", "pool"]),
    ("ci", &["memory", "matrix"]),
    ("search", &["memory", "observer", "pool", "graph", "ci"]),
    ("selection", &["memory", "observer", "ci"]),
    ("orient", &["memory", "graph", "ci"]),
    ("engine", &["memory", "observer", "pool", "graph", "ci", "search", "selection", "error"]),
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

/// The modules that come after `crate::` in a text.
fn known(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let list = match rest.strip_prefix('{') {
            // The first name of each item of `crate::{a::b, c}`.
            Some(list) => list.split('}').next().unwrap().split(',').collect::<Vec<_>>(),
            None => vec![rest],
        };
        let first =
            |item: &str| item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        names.extend(list.into_iter().map(first));
    }
    names
}

#[test]
fn no_layer_knows_those_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 80, "{}", files.len());
    for file in files {
        let place = file.strip_prefix(&root).unwrap();
        let layer = place.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        let text = std::fs::read_to_string(&file).unwrap();
        // Tests may use what they like.
        if layer == "lib" || place.ends_with("shuffled.rs") {
            continue;
        }
        let code: String = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap()
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        let (_, allowed) = LAYERS.iter().find(|(name, _)| *name == layer).expect("a layer in the list");
        for name in known(&code) {
            let is_module = LAYERS.iter().any(|(other, _)| *other == name);
            assert!(
                !is_module || name == layer || allowed.contains(&name.as_str()),
                "{} uses crate::{name}, which lies below its layer",
                place.display()
            );
        }
    }
}

#[test]
fn names_are_found_behind_crate() {
    let names =
        known("use crate::engine::cpu;\nuse crate::{graph::Adjacency, Error};\nlet a = crate::pool::Pool::none();");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["Error", "engine", "graph", "pool"]);
}
