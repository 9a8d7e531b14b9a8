//! Reads the golden frames; `protocol/golden/README.md` has the format.

use std::fs;
use std::path::{Path, PathBuf};

/// Golden frame: binary file and its parsed description.
pub struct Golden {
    pub name: String,
    pub bin: PathBuf,
    pub channel: u32,
    pub kind: u8,
    pub fields: Vec<Field>,
}

/// One line: type, name, value.
pub struct Field {
    pub kind: String,
    pub name: String,
    pub value: String,
}

const KINDS: [(&str, u8); 19] = [
    ("HELLO", 0x01),
    ("WELCOME", 0x02),
    ("REFUSE", 0x03),
    ("PING", 0x04),
    ("PONG", 0x05),
    ("SHUTDOWN", 0x06),
    ("OPEN", 0x10),
    ("STARTED", 0x11),
    ("DATA", 0x12),
    ("CREDIT", 0x13),
    ("EOF", 0x14),
    ("CLOSE", 0x15),
    ("DETACH", 0x16),
    ("SIGNAL", 0x17),
    ("RESIZE", 0x18),
    ("ATTACH", 0x19),
    ("ARRIVED", 0x1A),
    ("FAIL", 0x1E),
    ("END", 0x1F),
];

pub fn all() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/golden/gen-1");
    let mut texts: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    texts.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    texts.sort();
    texts.iter().map(|path| parse(path)).collect()
}

fn parse(path: &Path) -> Golden {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let head: Vec<&str> = lines.next().unwrap().split(' ').collect();
    assert_eq!(head[0], "frame");
    let kind = KINDS.iter().find(|(name, _)| *name == head[2]).unwrap().1;
    let fields = lines.map(|line| {
        let mut parts = line.splitn(3, ' ').map(str::to_owned);
        Field { kind: parts.next().unwrap(), name: parts.next().unwrap(), value: parts.next().unwrap() }
    });
    Golden {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        bin: path.with_extension("bin"),
        channel: head[1].parse().unwrap(),
        kind,
        fields: fields.collect(),
    }
}

impl Golden {
    /// Encodes the frame from its description, by the rules of the README only.
    pub fn bytes(&self) -> Vec<u8> {
        let payload: Vec<u8> = self.fields.iter().flat_map(Field::bytes).collect();
        let mut frame = (payload.len() as u32).to_be_bytes().to_vec();
        frame.extend(self.channel.to_be_bytes());
        frame.push(self.kind);
        frame.extend(payload);
        frame
    }

    pub fn read(&self) -> Vec<u8> {
        fs::read(&self.bin).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub fn number<T: TryFrom<i128, Error: std::fmt::Debug>>(&self, name: &str) -> T {
        T::try_from(self.fields.iter().find(|field| field.name == name).unwrap().value.parse().unwrap()).unwrap()
    }

    pub fn string(&self, name: &str) -> Vec<u8> {
        self.strings(name).remove(0)
    }

    pub fn strings(&self, name: &str) -> Vec<Vec<u8>> {
        let named = self.fields.iter().filter(|field| field.name == name && field.kind != "count");
        named.map(|field| content(&field.value)).collect()
    }
}

impl Field {
    fn bytes(&self) -> Vec<u8> {
        match self.kind.as_str() {
            "u8" => vec![self.value.parse().unwrap()],
            "u16" => self.value.parse::<u16>().unwrap().to_be_bytes().to_vec(),
            "u32" | "count" => self.value.parse::<u32>().unwrap().to_be_bytes().to_vec(),
            "u64" => self.value.parse::<u64>().unwrap().to_be_bytes().to_vec(),
            "i32" => self.value.parse::<i32>().unwrap().to_be_bytes().to_vec(),
            "i64" => self.value.parse::<i64>().unwrap().to_be_bytes().to_vec(),
            "raw" => content(&self.value),
            "string" => {
                let bytes = content(&self.value);
                [(bytes.len() as u32).to_be_bytes().to_vec(), bytes].concat()
            }
            other => panic!("unknown type {other}"),
        }
    }
}

fn content(value: &str) -> Vec<u8> {
    if let Some(text) = value.strip_prefix("text:") {
        return text.as_bytes().to_vec();
    }
    let digits = value.strip_prefix("hex:").unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
