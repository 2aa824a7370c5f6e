//! The envelope of every message between processes: the sender's version, the kind, the task, the length, and a checksum.

use xxhash_rust::xxh3::xxh3_64;

use super::{Reader, Writer};

/// The first bytes of every message.
const MAGIC: &[u8; 6] = b"pcgpu\n";

/// Version of the messages. It changes whenever they do.
const PROTOCOL: u64 = 4;

/// Why a message is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The message is damaged, or not one of this program.
    Damaged,
    /// The message is from another version, which is named.
    OtherVersion(String),
}

/// Returns the version of this program and of its messages.
pub fn version() -> String {
    format!("{} (messages {PROTOCOL})", env!("CARGO_PKG_VERSION"))
}

/// Puts a message of this kind into its envelope. `task`: a number that the reply repeats.
pub fn seal(kind: u8, task: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = Writer(Vec::with_capacity(body.len() + 64));
    bytes.0.extend_from_slice(MAGIC);
    bytes.text(&version());
    bytes.0.push(kind);
    bytes.number(task);
    bytes.number(body.len() as u64);
    bytes.0.extend_from_slice(body);
    let sum = xxh3_64(&bytes.0);
    bytes.number(sum);
    bytes.0
}

/// Returns kind, task and body of a message.
///
/// # Errors
/// [`Refusal`].
pub fn open(message: &[u8]) -> Result<(u8, u64, &[u8]), Refusal> {
    let read = || {
        let (said, sum) = message.split_at_checked(message.len().checked_sub(8)?)?;
        let mut bytes = Reader(said);
        if bytes.take(MAGIC.len())? != MAGIC || xxh3_64(said).to_le_bytes() != sum {
            return None;
        }
        let speaker = bytes.text()?;
        if speaker != version() {
            return Some(Err(Refusal::OtherVersion(speaker.into())));
        }
        let (kind, task) = (bytes.take(1)?[0], bytes.number()?);
        let length = bytes.index()?;
        let body = bytes.take(length)?;
        bytes.end(Ok((kind, task, body)))
    };
    read().unwrap_or(Err(Refusal::Damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_and_no_changed_one_does() {
        let message = seal(3, 77, b"what is asked");
        assert_eq!(open(&message), Ok((3, 77, &b"what is asked"[..])));
        for at in 0..message.len() {
            assert_eq!(open(&message[..at]), Err(Refusal::Damaged));
            for bit in 0..8 {
                let mut changed = message.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(open(&changed), Err(Refusal::Damaged), "{at}");
            }
        }
        // From another version, but otherwise valid.
        let mut bytes = Writer(MAGIC.to_vec());
        bytes.text("0.0.9 (messages 7)");
        bytes.0.push(1);
        let sum = xxh3_64(&bytes.0);
        bytes.number(sum);
        assert_eq!(open(&bytes.0), Err(Refusal::OtherVersion("0.0.9 (messages 7)".into())));
    }
}
