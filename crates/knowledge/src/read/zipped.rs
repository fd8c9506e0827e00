//! Makes ZIP archives for tests.

use std::io::Write;

use rawzip::{CompressionMethod, ZipArchiveWriter};

/// An archive of these parts, which are not compressed.
pub(super) fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in parts {
        let entry = archive
            .new_file(name)
            .compression_method(CompressionMethod::STORE);
        let (mut entry, config) = entry.start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content.as_bytes()).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}
