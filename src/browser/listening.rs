//! Which nodes of a tab's documents are known to listen to clicks. Plain data.

use std::collections::{HashMap, HashSet};

use crate::cdp::{dom, runtime};

/// By the unique context id of the world `tabd` of each document.
#[derive(Default)]
pub struct Listening(HashMap<String, Known>);

struct Known {
    document: runtime::RemoteObjectId,
    nodes: HashSet<dom::BackendNodeId>,
}

impl Listening {
    /// The document as an object of its world.
    pub fn document(&self, context: &str) -> Option<runtime::RemoteObjectId> {
        self.0.get(context).map(|known| known.document.clone())
    }

    /// Begins with a document of which nothing is known but its object.
    pub fn begin(&mut self, context: &str, document: runtime::RemoteObjectId) {
        let nodes = HashSet::new();
        self.0.insert(context.to_owned(), Known { document, nodes });
    }

    /// Which of `nodes` are new, in their order, and which known ones are not among them.
    pub fn difference(
        &self,
        context: &str,
        nodes: &[dom::BackendNodeId],
    ) -> (Vec<dom::BackendNodeId>, Vec<dom::BackendNodeId>) {
        let Some(known) = self.0.get(context) else {
            return (nodes.to_vec(), Vec::new());
        };
        let new = nodes.iter().filter(|n| !known.nodes.contains(n));
        let new: Vec<_> = new.copied().collect();
        if known.nodes.len() + new.len() == nodes.len() {
            return (new, Vec::new());
        }
        let now: HashSet<_> = nodes.iter().collect();
        let gone = known.nodes.iter().filter(|n| !now.contains(n));
        (new, gone.copied().collect())
    }

    /// Notes what the document's script was told.
    pub fn note(&mut self, context: &str, new: &[dom::BackendNodeId], gone: &[dom::BackendNodeId]) {
        if let Some(known) = self.0.get_mut(context) {
            known.nodes.extend(new);
            for node in gone {
                known.nodes.remove(node);
            }
        }
    }

    /// Forgets a document.
    pub fn forget(&mut self, context: &str) {
        self.0.remove(context);
    }

    /// Forgets all documents but those of which `live` is true.
    pub fn retain(&mut self, mut live: impl FnMut(&str) -> bool) {
        self.0.retain(|context, _| live(context));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_told() {
        let mut listening = Listening::default();
        assert_eq!(listening.difference("c", &[1]), (vec![1], vec![]));
        listening.begin("c", runtime::RemoteObjectId::from("o"));
        listening.note("c", &[3, 1], &[]);
        assert_eq!(listening.difference("c", &[4, 3]), (vec![4], vec![1]));
        listening.note("c", &[4], &[1]);
        assert_eq!(listening.difference("c", &[4, 3]), (vec![], vec![]));
        listening.retain(|c| c != "c");
        assert!(listening.document("c").is_none());
    }
}
