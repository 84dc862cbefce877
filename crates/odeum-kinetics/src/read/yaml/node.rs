//! A YAML document as a tree with line numbers.
//!
//! An alias shares its target, so that a small file cannot grow into a large tree; depth is
//! bounded, so that no recursion over the tree can overflow the stack.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::read::number;

/// What helps where a piece of a number stands as a key: `{A: 7,1e+12}` is A = 7 and a key `1e+12`.
pub(super) const DECIMAL_POINT: &str = "write numbers with a decimal point, as in 1.5";

/// Deepest nesting; mechanisms need six.
const MAX_DEPTH: usize = 64;

/// A value of the document.
#[derive(Debug)]
pub(super) struct Node {
    /// Line at which it begins, from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A key or an item without a value, or `null`.
    Empty,
    Scalar(String),
    Sequence(Vec<Rc<Node>>),
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Rc<Node>,
}

impl Node {
    /// What the node is, for messages.
    pub(super) fn what(&self) -> String {
        match &self.kind {
            Kind::Empty => "nothing".to_owned(),
            Kind::Scalar(text) => format!("'{}'", crate::read::problem::quote(text)),
            Kind::Sequence(_) => "a list".to_owned(),
            Kind::Mapping(_) => "a mapping".to_owned(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self.kind, Kind::Empty)
    }

    pub(super) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn sequence(&self) -> Option<&[Rc<Node>]> {
        match &self.kind {
            Kind::Sequence(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn mapping(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key of a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Rc<Node>> {
        self.mapping()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }
}

/// A collection under construction.
struct Open {
    line: usize,
    anchor: usize,
    items: Vec<Rc<Node>>,
    entries: Vec<Entry>,
    /// A key that waits for its value.
    key: Option<(String, usize)>,
    keys: std::collections::HashSet<String>,
    mapping: bool,
}

/// (line, what was found, remedy) of the one problem that ends reading: a broken document has no
/// structure in which to look for more.
pub(super) type Broken = (usize, String, &'static str);

/// The first document of `text`.
pub(super) fn load(text: &str) -> Result<Rc<Node>, Broken> {
    let mut stack: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Rc<Node>> = HashMap::new();
    let mut root: Option<Rc<Node>> = None;
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            (error.marker().line(), format!("not YAML: {}", error.info()), "correct the syntax")
        })?;
        let line = span.start.line();
        let done = match event {
            Event::Scalar(value, style, anchor, _) => {
                let kind = match (&*value, style) {
                    ("" | "~" | "null" | "Null" | "NULL", ScalarStyle::Plain) => Kind::Empty,
                    _ => Kind::Scalar(value.into_owned()),
                };
                let node = Rc::new(Node { line, kind });
                if anchor > 0 {
                    anchors.insert(anchor, node.clone());
                }
                node
            }
            Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _) => {
                if stack.len() >= MAX_DEPTH {
                    let found = format!("collections nested more than {MAX_DEPTH} deep");
                    return Err((line, found, "flatten them; no mechanism needs such depth"));
                }
                let mapping = matches!(event, Event::MappingStart(..));
                stack.push(Open {
                    line,
                    anchor,
                    items: Vec::new(),
                    entries: Vec::new(),
                    key: None,
                    keys: Default::default(),
                    mapping,
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = stack.pop() else { continue };
                let kind = if open.mapping {
                    Kind::Mapping(open.entries)
                } else {
                    Kind::Sequence(open.items)
                };
                let node = Rc::new(Node { line: open.line, kind });
                if open.anchor > 0 {
                    anchors.insert(open.anchor, node.clone());
                }
                node
            }
            // An anchor is known only once its node is complete: no node can contain itself.
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some(node) => node.clone(),
                None => {
                    let found = "an alias of something that is not complete yet".to_owned();
                    return Err((line, found, "write the value itself in place of the alias"));
                }
            },
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    let found = "a second YAML document".to_owned();
                    return Err((line, found, "put one mechanism into one file"));
                }
                continue;
            }
            _ => continue,
        };
        let Some(open) = stack.last_mut() else {
            root = Some(done);
            continue;
        };
        if !open.mapping {
            open.items.push(done);
        } else if let Some((key, line)) = open.key.take() {
            open.entries.push(Entry { key, line, value: done });
        } else {
            let Some(key) = done.scalar() else {
                let found = format!("{} as a key", done.what());
                return Err((done.line, found, "use a name as the key"));
            };
            if key == "<<" {
                let found = "a merge key '<<', which is not supported".to_owned();
                return Err((done.line, found, "write what it merges in its place"));
            }
            if !open.keys.insert(key.to_owned()) {
                let found = format!("the key '{}' twice", crate::read::problem::quote(key));
                let remedy =
                    if number::begins(key) { DECIMAL_POINT } else { "keep one of the two" };
                return Err((done.line, found, remedy));
            }
            open.key = Some((key.to_owned(), done.line));
        }
    }
    root.ok_or((1, "an empty file".to_owned(), "give a mechanism"))
}
