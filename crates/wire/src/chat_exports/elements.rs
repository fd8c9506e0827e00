//! Splits a streamed JSON array, or JSON Lines, into its elements, so that only one of them is in memory.

/// The bytes of an element; `None` if it is longer than the limit.
pub type Element = Option<Vec<u8>>;

/// Reads the bytes of an array, or of one or more objects, piece by piece. Invalid JSON becomes unreadable elements.
#[derive(Debug)]
pub struct Elements {
    limit_bytes: usize,
    element: Vec<u8>,
    place: Place,
    /// The nesting depth within the element.
    depth: u64,
    in_text: bool,
    is_escaped: bool,
    is_too_long: bool,
    /// Whether there is an array around the elements.
    is_array: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before an array that an object contains.
    Outside,
    Before,
    Between,
    Inside,
    /// After an object that is in no array: others may follow.
    After,
    Behind,
}

impl Elements {
    /// Elements of at most this many bytes.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            element: Vec::new(),
            place: Place::Before,
            depth: 0,
            in_text: false,
            is_escaped: false,
            is_too_long: false,
            is_array: false,
        }
    }

    /// The elements of the first array in an object.
    #[must_use]
    pub fn in_object(limit_bytes: usize) -> Self {
        Self {
            place: Place::Outside,
            ..Self::new(limit_bytes)
        }
    }

    /// Adds the elements that end in the next piece.
    pub fn feed(&mut self, piece: &[u8], elements: &mut Vec<Element>) {
        for byte in piece {
            self.byte(*byte, elements);
        }
    }

    /// Whether the end of the array, or of an object, was reached.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.place, Place::After | Place::Behind)
    }

    fn byte(&mut self, byte: u8, elements: &mut Vec<Element>) {
        match self.place {
            Place::Behind => {}
            Place::Outside => {
                if byte == b'[' {
                    (self.place, self.is_array) = (Place::Between, true);
                }
            }
            Place::After => match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                b'{' => self.begin(byte),
                _ => self.place = Place::Behind,
            },
            Place::Before => match byte {
                b'[' => (self.place, self.is_array) = (Place::Between, true),
                // The byte order mark that some programs write.
                0xef | 0xbb | 0xbf | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.begin(byte),
            },
            Place::Between => match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                b']' => self.place = Place::Behind,
                _ => self.begin(byte),
            },
            Place::Inside => self.inside(byte, elements),
        }
    }

    fn begin(&mut self, byte: u8) {
        self.place = Place::Inside;
        (self.depth, self.in_text, self.is_escaped, self.is_too_long) = (0, false, false, false);
        self.element.clear();
        self.keep(byte);
        match byte {
            b'{' | b'[' => self.depth = 1,
            b'"' => self.in_text = true,
            _ => {}
        }
    }

    fn inside(&mut self, byte: u8, elements: &mut Vec<Element>) {
        if self.in_text {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b',' | b']' if self.depth == 0 => {
                self.end(elements);
                if byte == b']' {
                    self.place = Place::Behind;
                }
                return;
            }
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.keep(byte);
        if self.depth == 0 && matches!(byte, b'}' | b']') {
            self.end(elements);
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.element.len() == self.limit_bytes {
            self.is_too_long = true;
            self.element = Vec::new();
        }
        if !self.is_too_long {
            self.element.push(byte);
        }
    }

    fn end(&mut self, elements: &mut Vec<Element>) {
        let element = std::mem::take(&mut self.element);
        elements.push((!self.is_too_long).then_some(element));
        self.place = if self.is_array {
            Place::Between
        } else {
            Place::After
        };
    }
}
