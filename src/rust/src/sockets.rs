//! Sockets of R's connections, which R does not let go of: their options alone.

use extendr_api::prelude::*;

use crate::respond::respond;
use crate::value::Value;

/// Has the sockets that are connected to one of these ports, or from it, send small messages at once (TCP_NODELAY): how many there are. A descriptor is known by what the
/// system says of it; one that is closed meanwhile, or is no socket, is left alone.
#[cfg(unix)]
fn send_at_once(ports: &[u16]) -> usize {
    use std::mem::ManuallyDrop;
    use std::net::TcpStream;
    use std::os::fd::FromRawFd;

    let Ok(listed) = std::fs::read_dir("/dev/fd") else { return 0 };
    let descriptors: Vec<i32> =
        listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|&fd| fd > 2).collect();
    let has_port = |fd: &&i32| {
        // SAFETY: it is asked for its addresses and given an option, calls that fail for what is no open socket, and never closed.
        let socket = ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(**fd) });
        let (Ok(own), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) else { return false };
        [own, peer].iter().any(|address| ports.contains(&address.port())) && socket.set_nodelay(true).is_ok()
    };
    descriptors.iter().filter(has_port).count()
}

/// Elsewhere R's descriptors are not known.
#[cfg(not(unix))]
fn send_at_once(_ports: &[u16]) -> usize {
    0
}

/// Has the sockets of these ports send small messages at once: how many there are.
/// @noRd
#[extendr]
fn rust_no_delay(ports: Robj) -> Robj {
    respond([&ports], |_| {
        let ports = ports.as_integer_slice().unwrap_or_default();
        let ports: Vec<u16> =
            ports.iter().filter_map(|&port| u16::try_from(port).ok()).filter(|&port| port > 0).collect();
        Ok(Value::from(send_at_once(&ports) as i32))
    })
}

extendr_module! {
    mod sockets;
    fn rust_no_delay;
}
