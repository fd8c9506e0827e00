//! The network as it is run. Its export spells attention and GELU out in many small steps, in forms that ONNX Runtime does not
//! recognise; here each becomes the one operator that ONNX Runtime has for it. The numbers are the same but for rounding.

use std::collections::{HashMap, HashSet};

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

/// The SHA-256 of the file that the model is made of, the only one whose steps are known here.
pub const NETWORK_SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";

/// In how many parts the network pays attention.
const HEADS: u64 = 12;
/// Where ONNX Runtime has its own operators.
const OPERATORS: &str = "com.microsoft";

/// The fields of ONNX's messages that are used here.
mod field {
    pub(super) const MODEL_GRAPH: u64 = 7;
    pub(super) const MODEL_OPERATORS: u64 = 8;
    pub(super) const OPERATORS_DOMAIN: u64 = 1;
    pub(super) const OPERATORS_VERSION: u64 = 2;
    pub(super) const GRAPH_NODE: u64 = 1;
    pub(super) const GRAPH_OUTPUT: u64 = 12;
    pub(super) const VALUE_NAME: u64 = 1;
    pub(super) const NODE_INPUT: u64 = 1;
    pub(super) const NODE_OUTPUT: u64 = 2;
    pub(super) const NODE_OPERATOR: u64 = 4;
    pub(super) const NODE_ATTRIBUTE: u64 = 5;
    pub(super) const NODE_DOMAIN: u64 = 7;
    pub(super) const ATTRIBUTE_NAME: u64 = 1;
    pub(super) const ATTRIBUTE_NUMBER: u64 = 3;
    pub(super) const ATTRIBUTE_TYPE: u64 = 20;
}

/// The replacement of a model file; `None` for an unknown file, which is run unchanged.
pub(crate) fn fused(file: &[u8]) -> Option<Vec<u8>> {
    if HEXLOWER.encode(digest(&SHA256, file).as_ref()) != NETWORK_SHA256 {
        return None;
    }
    let mut model = Message::default();
    for field in fields(file)? {
        if field.number == field::MODEL_GRAPH {
            model.put(field.number, &graph(field.content)?);
        } else {
            model.0.extend(field.whole);
        }
    }
    let mut operators = Message::default();
    operators.put(field::OPERATORS_DOMAIN, OPERATORS.as_bytes());
    operators.put_number(field::OPERATORS_VERSION, 1);
    model.put(field::MODEL_OPERATORS, &operators.0);
    Some(model.0)
}

/// The graph with its steps put together, without those that nothing needs any more.
fn graph(graph: &[u8]) -> Option<Vec<u8>> {
    let mut nodes = Vec::new();
    let mut needed = HashSet::new();
    let mut changed = Message::default();
    for field in fields(graph)? {
        if field.number == field::GRAPH_NODE {
            nodes.push(Node::read(field.content)?);
            continue;
        }
        if field.number == field::GRAPH_OUTPUT {
            needed.extend(text(field.content, field::VALUE_NAME));
        }
        changed.0.extend(field.whole);
    }
    let steps = Steps(
        nodes
            .iter()
            .flat_map(|node| node.outputs.iter().map(move |it| (&**it, node)))
            .collect(),
    );
    let fused = nodes
        .iter()
        .flat_map(|node| steps.fused(node).unwrap_or_else(|| vec![node.clone()]));
    let fused: Vec<Node> = fused.collect();
    // From the end on, as each step stands behind those that it needs.
    let mut kept = Vec::new();
    for node in fused.iter().rev() {
        if node.outputs.iter().any(|output| needed.contains(output)) {
            needed.extend(node.inputs.iter().cloned());
            kept.push(node);
        }
    }
    for node in kept.iter().rev() {
        changed.put(field::GRAPH_NODE, &node.message);
    }
    Some(changed.0)
}

/// A step of the network.
#[derive(Debug, Clone)]
struct Node {
    operator: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    message: Vec<u8>,
}

impl Node {
    fn read(message: &[u8]) -> Option<Self> {
        let mut node = Self {
            operator: text(message, field::NODE_OPERATOR)?,
            inputs: Vec::new(),
            outputs: Vec::new(),
            message: message.to_vec(),
        };
        for field in fields(message)? {
            let names = match field.number {
                field::NODE_INPUT => &mut node.inputs,
                field::NODE_OUTPUT => &mut node.outputs,
                _ => continue,
            };
            names.push(String::from_utf8(field.content.to_vec()).ok()?);
        }
        Some(node)
    }

    fn new(
        domain: &str,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attribute: Option<(&str, u64)>,
    ) -> Self {
        /// ONNX's mark of a whole number.
        const WHOLE: u64 = 2;
        let mut message = Message::default();
        for input in inputs {
            message.put(field::NODE_INPUT, input.as_bytes());
        }
        message.put(field::NODE_OUTPUT, output.as_bytes());
        message.put(field::NODE_OPERATOR, operator.as_bytes());
        message.put(field::NODE_DOMAIN, domain.as_bytes());
        if let Some((name, number)) = attribute {
            let mut attribute = Message::default();
            attribute.put(field::ATTRIBUTE_NAME, name.as_bytes());
            attribute.put_number(field::ATTRIBUTE_NUMBER, number);
            attribute.put_number(field::ATTRIBUTE_TYPE, WHOLE);
            message.put(field::NODE_ATTRIBUTE, &attribute.0);
        }
        Self {
            operator: operator.to_owned(),
            inputs: inputs.iter().map(|&input| input.to_owned()).collect(),
            outputs: vec![output.to_owned()],
            message: message.0,
        }
    }
}

/// The steps by what they make.
struct Steps<'a>(HashMap<&'a str, &'a Node>);

impl<'a> Steps<'a> {
    /// What takes the place of a step that ends attention or GELU.
    fn fused(&self, last: &Node) -> Option<Vec<Node>> {
        let [output] = last.outputs.as_slice() else {
            return None;
        };
        self.attention(output).or_else(|| self.gelu(output))
    }

    /// softmax(queries × keys + mask) × values, of each head. There is never a mask: one text is computed at a time.
    fn attention(&self, output: &str) -> Option<Vec<Node>> {
        let [joined, _] = self.inputs(output, "Reshape")?;
        let [heads] = self.inputs(joined, "Transpose")?;
        let [shares, values] = self.inputs(heads, "MatMul")?;
        // Otherwise zero, where a mask left nothing.
        let [_, _, shares] = self.inputs(shares, "Where")?;
        let [scores] = self.inputs(shares, "Softmax")?;
        let [scores, _] = self.inputs(scores, "Add")?;
        let [queries, keys] = self.inputs(scores, "MatMul")?;
        let [queries, keys, values] = [
            self.linear(queries)?,
            self.linear(keys)?,
            self.linear(values)?,
        ];
        let weights = format!("{output}_weights");
        let biases = format!("{output}_biases");
        Some(vec![
            Node::new(
                "",
                "Concat",
                &[queries.weights, keys.weights, values.weights],
                &weights,
                Some(("axis", 1)),
            ),
            Node::new(
                "",
                "Concat",
                &[queries.biases, keys.biases, values.biases],
                &biases,
                Some(("axis", 0)),
            ),
            Node::new(
                OPERATORS,
                "Attention",
                &[queries.of, &weights, &biases],
                output,
                Some(("num_heads", HEADS)),
            ),
        ])
    }

    /// x × (0.5 × (erf(x / √2) + 1)).
    fn gelu(&self, output: &str) -> Option<Vec<Node>> {
        let [x, share] = self.inputs(output, "Mul")?;
        let [_, share] = self.inputs(share, "Mul")?;
        let [erf, _] = self.inputs(share, "Add")?;
        let [ratio] = self.inputs(erf, "Erf")?;
        let [_, _] = self.inputs(ratio, "Div")?;
        Some(vec![Node::new(OPERATORS, "Gelu", &[x], output, None)])
    }

    /// What a value is before it was cut into heads and scaled.
    fn linear(&self, mut value: &'a str) -> Option<Linear<'a>> {
        loop {
            let node = self.0.get(value)?;
            if !matches!(node.operator.as_str(), "Reshape" | "Transpose" | "Mul") {
                break;
            }
            value = node.inputs.first()?;
        }
        let [product, biases] = self.inputs(value, "Add")?;
        let [of, weights] = self.inputs(product, "MatMul")?;
        Some(Linear {
            of,
            weights,
            biases,
        })
    }

    /// What a value is made from, where that is by this operator.
    fn inputs<const N: usize>(&self, value: &str, operator: &str) -> Option<[&'a str; N]> {
        let node = self.0.get(value).filter(|node| node.operator == operator)?;
        let inputs: Vec<&str> = node.inputs.iter().map(String::as_str).collect();
        inputs.try_into().ok()
    }
}

/// A product with weights, and biases added.
struct Linear<'a> {
    of: &'a str,
    weights: &'a str,
    biases: &'a str,
}

/// A message of Protocol Buffers that is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn put(&mut self, number: u64, content: &[u8]) {
        self.varint(number << 3 | 2);
        self.varint(content.len() as u64);
        self.0.extend(content);
    }

    fn put_number(&mut self, number: u64, content: u64) {
        self.varint(number << 3);
        self.varint(content);
    }

    /// Seven bits at a time, the lowest first; all bytes but the last have the eighth.
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

/// A field of a message of Protocol Buffers; a number has no content here.
struct Field<'a> {
    number: u64,
    content: &'a [u8],
    whole: &'a [u8],
}

/// `None` if the bytes are not a message.
fn fields(mut bytes: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let mut rest = bytes;
        let key = varint(&mut rest)?;
        let length = match key & 7 {
            0 => varint(&mut rest).map(|_| 0)?,
            1 => 8,
            2 => usize::try_from(varint(&mut rest)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        let (whole, _) = bytes.split_at_checked(bytes.len() - after.len())?;
        fields.push(Field {
            number: key >> 3,
            content,
            whole,
        });
        bytes = after;
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A field of a message as text.
fn text(message: &[u8], number: u64) -> Option<String> {
    let field = fields(message)?
        .into_iter()
        .find(|field| field.number == number)?;
    String::from_utf8(field.content.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::PathBuf};

    use super::{Message, field, fields, fused, graph, text};
    use crate::NETWORK;

    /// `tests/real_files.rs` compares its vectors with the reference's, and insists on the file.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are set up through the environment"
    )]
    fn attention_and_gelu_are_one_step_each() {
        let Some(folder) = env::var_os("GLASSHOUSE_TEST_EMBEDDER").map(PathBuf::from) else {
            return;
        };
        let fused = fused(&fs::read(folder.join(NETWORK)).unwrap_or_default()).unwrap_or_default();
        let of = |message, number| {
            fields(message)
                .unwrap_or_default()
                .into_iter()
                .filter(move |field| field.number == number)
        };
        let operators: Vec<String> = of(&fused, field::MODEL_GRAPH)
            .flat_map(|graph| of(graph.content, field::GRAPH_NODE))
            .filter_map(|node| text(node.content, field::NODE_OPERATOR))
            .collect();
        let count = |name: &str| {
            operators
                .iter()
                .filter(|operator| *operator == name)
                .count()
        };
        let counts = [
            "Attention",
            "Gelu",
            "LayerNormalization",
            "Softmax",
            "Erf",
            "Where",
        ]
        .map(count);
        assert_eq!(counts, [6, 6, 13, 0, 0, 0]);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut message = Message::default();
        message.put(1, b"text");
        message.put_number(300, u64::MAX);
        message.put(2, &[7; 200]);
        let read = fields(&message.0).unwrap_or_default();
        let (numbers, contents): (Vec<u64>, Vec<&[u8]>) = read
            .iter()
            .map(|field| (field.number, field.content))
            .unzip();
        assert_eq!(numbers, [1, 300, 2]);
        assert_eq!(contents, [b"text".as_slice(), b"", &[7; 200]]);
        assert_eq!(
            read.iter()
                .flat_map(|field| field.whole)
                .copied()
                .collect::<Vec<_>>(),
            message.0
        );
    }

    #[test]
    fn what_is_no_message_is_left_alone() {
        for bytes in [
            b"\x0a\x05abc".as_slice(),
            b"\x0f",
            b"\x80",
            &[0xff; 20],
            b"\x0a\xff\xff\xff\xff\x7f",
        ] {
            assert!(fields(bytes).is_none(), "{bytes:?}");
            assert!(graph(bytes).is_none(), "{bytes:?}");
            assert!(fused(bytes).is_none(), "{bytes:?}");
        }
    }
}
