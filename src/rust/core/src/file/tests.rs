use std::fs::{read, read_dir, write};

use super::*;

/// A folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pcgpu-file-{name}-{}", std::process::id()));
        _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn cells(n: usize, p: usize) -> Vec<f64> {
    (0..n * p).map(|at| (at as f64 * 0.7).sin()).collect()
}

fn names(p: usize) -> Vec<String> {
    (0..p).map(|j| format!("gène {j}")).collect()
}

fn kind(result: Result<DataFile>) -> FileKind {
    match result.unwrap_err() {
        Error::File(error) => error.kind,
        other => panic!("{other}"),
    }
}

fn made(path: &Path, n: usize, p: usize) -> Digest {
    let names = names(p);
    let writer = Writer::create(path, Content::Values, n, p, Some(&names)).unwrap();
    writer.put_block(0, 0, n, &cells(n, p)).unwrap();
    writer.finish(&Pool::new(2), &mut |_| Ok(())).unwrap()
}

#[test]
fn what_is_written_in_any_blocks_is_read() {
    let folder = Folder::new("blocks");
    for (n, p) in [(1, 1), (7, 3), (1000, 131), (400_000, 2)] {
        let (path, wanted) = (folder.at("a"), cells(n, p));
        let digest = made(&path, n, p);
        let file = DataFile::open(&path, Some(digest)).unwrap();
        file.verify(&Pool::new(2), &mut |_| Ok(())).unwrap();
        assert_eq!((file.n(), file.p(), file.content(), file.cells()), (n, p, Content::Values, &wanted[..]));
        assert_eq!(file.names(), Some(&names(p)[..]));
        assert_eq!(digest_of(&shown(&digest)), Some(digest));
        // Blocks of rows and columns, in reverse order.
        let other = folder.at("b");
        let names = names(p);
        let writer = Writer::create(&other, Content::Values, n, p, Some(&names)).unwrap();
        for row in (0..n).step_by(n / 3 + 1).rev() {
            let rows = (n / 3 + 1).min(n - row);
            for column in (0..p).step_by(5).rev() {
                let columns = 5.min(p - column);
                let block: Vec<f64> =
                    (0..rows * columns).map(|at| wanted[(column + at / rows) * n + row + at % rows]).collect();
                writer.put_block(row, column, rows, &block).unwrap();
            }
        }
        assert!(!other.exists());
        assert_eq!(writer.finish(&Pool::none(), &mut |_| Ok(())).unwrap(), digest);
        assert_eq!(read(&other).unwrap(), read(&path).unwrap());
        // Files with the same numbers but other names, or other content, differ.
        let writer = Writer::create(&other, Content::Centred, n, p, None).unwrap();
        writer.put(0, &wanted).unwrap();
        assert_ne!(writer.finish(&Pool::none(), &mut |_| Ok(())).unwrap(), digest);
        let file = DataFile::open(&other, None).unwrap();
        assert_eq!((file.content(), file.names(), file.cells()), (Content::Centred, None, &wanted[..]));
        assert_eq!(kind(DataFile::open(&other, Some(digest))), FileKind::Changed);
        std::fs::remove_file(&other).unwrap();
    }
}

#[test]
fn the_layout_is_the_one_that_is_documented() {
    let folder = Folder::new("layout");
    let path = folder.at("a");
    let digest = made(&path, 3, 2);
    let bytes = read(&path).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(&bytes[..16], b"pcgpu\0\r\n\x01\0\0\0\x01\0\0\0");
    let (sums, all) = (4096 + 48, 4096 + 48 + 8 + 2 * (4 + 7));
    assert_eq!((2..10).map(|at| number(8 * at)).collect::<Vec<_>>(), [3, 2, 4096, 1 << 20, sums, sums + 8, 22, all]);
    assert_eq!(bytes[80..96], digest);
    assert!(bytes[96..4096].iter().all(|&byte| byte == 0) && bytes.len() as u64 == all);
    assert_eq!(f64::from_le_bytes(bytes[4096 + 40..4096 + 48].try_into().unwrap()), cells(3, 2)[5]);
    assert_eq!(number(sums as usize), xxh3_64(&bytes[4096..4096 + 48]));
    assert_eq!(&bytes[sums as usize + 8..], "\u{7}\0\0\0gène 0\u{7}\0\0\0gène 1".as_bytes());
}

#[test]
fn a_name_that_r_cannot_have_is_damage() {
    let folder = Folder::new("nul");
    let path = folder.at("a");
    let names = ["a\0b".to_string(), "c".to_string()];
    let writer = Writer::create(&path, Content::Values, 3, 2, Some(&names)).unwrap();
    writer.put_block(0, 0, 3, &cells(3, 2)).unwrap();
    writer.finish(&Pool::new(1), &mut |_| Ok(())).unwrap();
    assert_eq!(kind(DataFile::open(&path, None)), FileKind::Damaged);
}

#[test]
fn any_changed_byte_and_any_missing_one_is_seen() {
    let folder = Folder::new("damage");
    let (path, other) = (folder.at("a"), folder.at("b"));
    made(&path, 300, 500);
    let whole = read(&path).unwrap();
    let data = DATA..DATA + 8 * 300 * 500;
    let places = (0..header::AT_DIGEST + 16).chain([
        data.start,
        data.start + BLOCK - 1,
        data.start + BLOCK,
        data.end - 1,
        data.end,
        whole.len() - 1,
    ]);
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        write(&other, &bytes).unwrap();
        let found = DataFile::open(&other, None).and_then(|file| {
            assert!(data.contains(&at), "{at}");
            file.verify(&Pool::new(2), &mut |_| Ok(())).map(|()| file)
        });
        let wanted = match at {
            0..8 => FileKind::Foreign,
            8..12 => FileKind::Version,
            _ => FileKind::Damaged,
        };
        assert_eq!(kind(found), wanted, "{at}");
    }
    for length in [1, 8, 95, 4095, 4096, data.start + 1, data.end - 1, data.end, whole.len() - 1] {
        write(&other, &whole[..length]).unwrap();
        assert_eq!(kind(DataFile::open(&other, None)), FileKind::Truncated, "{length}");
    }
    write(&other, [&whole[..], &[0]].concat()).unwrap();
    assert_eq!(kind(DataFile::open(&other, None)), FileKind::Damaged);
    for text in ["", "a,b,c\n1,2,3\n", "pcgpx"] {
        write(&other, text).unwrap();
        assert_eq!(kind(DataFile::open(&other, None)), FileKind::Foreign, "{text}");
    }
    assert_eq!(kind(DataFile::open(&folder.0, None)), FileKind::Foreign);
    assert_eq!(kind(DataFile::open(&folder.at("none"), None)), FileKind::Unreadable);
    assert_eq!(digest_of("00"), None);
    assert_eq!(digest_of(&"é".repeat(16)), None);
    assert_eq!(digest_of(&"zz".repeat(16)), None);
}

#[test]
fn a_file_that_is_not_done_is_not_there() {
    let folder = Folder::new("part");
    let path = folder.at("a");
    let left = || read_dir(&folder.0).unwrap().count();
    let begun = || Writer::create(&path, Content::Values, 4, 3, None).unwrap();
    let refused =
        |result: Result<Digest>| matches!(result, Err(Error::File(FileError { kind: FileKind::Unwritable, .. })));
    let writer = begun();
    assert_eq!(left(), 1);
    drop(writer);
    assert_eq!(left(), 0);
    let writer = begun();
    writer.put(0, &[1.0; 11]).unwrap();
    assert!(writer.put(6, &[1.0; 7]).is_err() && writer.put(usize::MAX, &[1.0]).is_err());
    assert!(writer.put_block(2, 0, 3, &[1.0; 3]).is_err() && writer.put_block(0, 3, 4, &[1.0; 4]).is_err());
    assert!(refused(writer.finish(&Pool::none(), &mut |_| Ok(()))));
    let writer = begun();
    writer.put(0, &[1.0; 12]).unwrap();
    assert_eq!(writer.finish(&Pool::none(), &mut |_| Err(Error::Interrupted)), Err(Error::Interrupted));
    assert_eq!(left(), 0);
    let nowhere = Writer::create(&folder.at("none/a"), Content::Values, 4, 3, None);
    assert!(matches!(nowhere, Err(Error::File(FileError { kind: FileKind::Unwritable, .. }))));
    assert!(Writer::create(&path, Content::Values, 1 << 40, 1 << 40, None).is_err());
    assert_eq!(left(), 0);
}

#[cfg(unix)]
#[test]
fn a_file_is_read_by_those_whom_the_mask_allows_and_written_by_nobody() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    // The permissions are those of any new file, also in a process with its own umask.
    write(folder.at("any"), "").unwrap();
    made(&folder.at("a"), 2, 2);
    assert_eq!(mode(&folder.at("a")), mode(&folder.at("any")) & !0o222);
    if let Ok(path) = std::env::var("PCGPU_TEST_PRIVATE") {
        made(Path::new(&path), 2, 2);
        return;
    }
    let path = folder.at("private");
    let again = std::env::current_exe().unwrap();
    let command = "umask 077; exec \"$0\" --exact file::tests::a_file_is_read_by_those_whom_the_mask_allows_and_written_by_nobody";
    let run =
        std::process::Command::new("sh").args(["-c", command]).arg(again).env("PCGPU_TEST_PRIVATE", &path).output();
    assert!(run.unwrap().status.success());
    assert_eq!(mode(&path), 0o400);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_its_writer() {
    let folder = Folder::new("pipe");
    let path = folder.at("a");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(kind(DataFile::open(&path, None))));
    assert_eq!(told.recv_timeout(std::time::Duration::from_secs(20)), Ok(FileKind::Foreign));
}
