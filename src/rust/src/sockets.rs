//! Options of the sockets of R's connections. R does not hand over the sockets themselves.

use extendr_api::prelude::*;

use crate::respond::respond;
use crate::value::Value;

/// Sets TCP_NODELAY on the sockets that are connected to or from one of these ports, so that small messages are sent at once. Returns the
/// number of these sockets. The system's addresses identify a descriptor. One that is closed meanwhile, or is not a socket, is left alone.
#[cfg(unix)]
fn send_at_once(ports: &[u16]) -> usize {
    use std::mem::ManuallyDrop;
    use std::net::TcpStream;
    use std::os::fd::FromRawFd;

    let Ok(listed) = std::fs::read_dir("/dev/fd") else { return 0 };
    let descriptors: Vec<i32> =
        listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|&fd| fd > 2).collect();
    let has_port = |fd: &&i32| {
        // SAFETY: it is only asked for its addresses and given an option, in calls that fail for anything but an open socket. It is never
        // closed.
        let socket = ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(**fd) });
        let (Ok(own), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) else { return false };
        [own, peer].iter().any(|address| ports.contains(&address.port())) && socket.set_nodelay(true).is_ok()
    };
    descriptors.iter().filter(has_port).count()
}

/// Does nothing on other systems, on which R's descriptors are not known.
#[cfg(not(unix))]
fn send_at_once(_ports: &[u16]) -> usize {
    0
}

/// Lets the sockets of these ports send small messages at once. Returns the number of these sockets.
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
