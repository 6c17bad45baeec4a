//! The Chrome DevTools Protocol: typed commands and events, and a connection that carries them.
//! Knows nothing of tabs, sessions of clients, or how a browser is started.

#[macro_use]
mod scalar;
mod connection;
mod error;
mod json;
mod transport;

mod protocol {
    //! Generated from `cdp-schema/`: a module a domain.
    #![allow(missing_docs, reason = "the schema is kept without its prose")]
    #![allow(clippy::all, reason = "generated")]
    include!(concat!(env!("OUT_DIR"), "/cdp.rs"));
}

use bytes::Bytes;
use serde::Serialize;

pub use connection::{Connection, Pending};
pub use error::CdpError;
pub use json::Json;
pub use protocol::*;
pub use transport::Transport;

pub use browser::BrowserContextId;
pub use network::{LoaderId, RequestId};
pub use page::FrameId;
pub use target::{SessionId, TargetId};

/// A command's parameters, which know their method and their reply.
pub trait Command: Serialize {
    /// `Domain.command`.
    const METHOD: &'static str;
    /// What the browser answers; `()` if nothing.
    type Output: Send + 'static;

    /// The reply from its JSON text.
    fn decode(result: &Bytes) -> serde_json::Result<Self::Output>;
}

#[cfg(test)]
#[path = "../../cdp-schema/codegen.rs"]
#[allow(dead_code, reason = "build.rs uses it; here it is only tested")]
mod codegen;
