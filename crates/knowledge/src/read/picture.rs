//! Pictures as documents: the text in them is recognized. They are decoded here, in memory-safe code and within the
//! limits, and a TIFF file has as many pages as pictures.

use std::io::Cursor;

use image::{
    DynamicImage, GrayImage, ImageDecoder, ImageFormat, ImageReader, Luma,
    imageops::{self, FilterType},
};
use tiff::{
    ColorType,
    decoder::{Decoder, DecodingResult},
    tags::Tag,
};

use super::pdf::Assembly;
use crate::{
    document::{Document, UnreadPage},
    picture::Picture,
    recognition::{MAX_PIXELS, Recognition, UnreadReason, gray},
    unreadable::{Limits, Unreadable},
};

/// Maximum memory for the decoding of a picture, bytes.
const DECODING_BYTES: u64 = 500_000_000;
/// Text in a picture with shorter sides, such as a screenshot, is too small for text recognition, and is enlarged.
const SMALL_SIDE: u32 = 1600;
const ENLARGED: u32 = 2;
/// Sizes of the second header of BMP files.
const BMP_HEADERS: [u32; 7] = [12, 40, 52, 56, 64, 108, 124];

/// Whether it is a picture in a format of scanners that models do not look at: TIFF or BMP.
pub(super) fn is_scan(bytes: &[u8]) -> bool {
    is_tiff(bytes) || is_bmp(bytes)
}

fn is_tiff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*")
}

fn is_bmp(bytes: &[u8]) -> bool {
    let header = bytes.get(14..18).and_then(|size| size.try_into().ok());
    bytes.starts_with(b"BM")
        && bytes.get(6..10) == Some(&[0; 4])
        && header.is_some_and(|size| BMP_HEADERS.contains(&u32::from_le_bytes(size)))
}

/// Recognizes the text in a picture.
///
/// # Errors
/// If it is damaged, too large, or there is no text recognition.
pub(super) fn read(
    bytes: &[u8],
    limits: &Limits,
    recognition: &mut Recognition<'_>,
) -> Result<Document, Unreadable> {
    if let Some(picture) = Picture::of(bytes, limits) {
        picture?;
    }
    match recognition.begin_page(limits) {
        Err(UnreadReason::NoRecognition) => return Err(Unreadable::Picture),
        Err(_) => return Err(Unreadable::NotRecognized),
        Ok(()) => {}
    }
    if is_tiff(bytes) {
        return pages(bytes, limits, recognition);
    }
    let mut page = Pages::default();
    page.add(1, recognition.recognize(&fitted(decoded(bytes, limits)?)));
    let document = page.finish();
    Ok(Document {
        pages: Vec::new(),
        ..document
    })
}

/// The pages read so far.
#[derive(Default)]
struct Pages {
    assembly: Assembly,
    recognized: Vec<u32>,
    unread: Vec<UnreadPage>,
}

impl Pages {
    fn add(
        &mut self,
        number: u32,
        lines: Result<Vec<crate::recognition::RecognizedLine>, UnreadReason>,
    ) {
        match &lines {
            Ok(lines) if lines.is_empty() => {}
            Ok(_) => self.recognized.push(number),
            Err(reason) => self.unread.push(UnreadPage {
                number,
                reason: *reason,
            }),
        }
        let lines = lines.unwrap_or_default();
        self.assembly.add_recognized_page(number, lines);
    }

    fn finish(self) -> Document {
        Document {
            recognized: self.recognized,
            unread: self.unread,
            ..self.assembly.finish()
        }
    }
}

/// Decodes a picture, upright if it says how it was taken.
fn decoded(bytes: &[u8], limits: &Limits) -> Result<GrayImage, Unreadable> {
    let damaged = || Unreadable::damaged("a picture");
    let format = match Picture::media_type(bytes) {
        Some("image/png") => ImageFormat::Png,
        Some("image/jpeg") => ImageFormat::Jpeg,
        Some("image/gif") => ImageFormat::Gif,
        Some(_) => ImageFormat::WebP,
        None => ImageFormat::Bmp,
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut within = image::Limits::default();
    within.max_alloc = Some(DECODING_BYTES);
    reader.limits(within);
    let mut decoder = reader.into_decoder().map_err(|_| damaged())?;
    let (width, height) = decoder.dimensions();
    if is_too_large(width, height, limits) {
        return Err(Unreadable::TooManyPixels {
            limit: limits.picture_megapixels,
        });
    }
    let orientation = decoder.orientation();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|_| damaged())?;
    if let Ok(orientation) = orientation {
        picture.apply_orientation(orientation);
    }
    Ok(on_white(picture))
}

/// In gray, with white behind what is transparent.
fn on_white(picture: DynamicImage) -> GrayImage {
    if !picture.color().has_alpha() {
        return picture.into_luma8();
    }
    let picture = picture.into_luma_alpha8();
    GrayImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [gray, alpha] = picture.get_pixel(x, y).0;
        Luma([over_white(gray, alpha)])
    })
}

fn over_white(gray: u8, alpha: u8) -> u8 {
    let mixed = u16::from(gray) * u16::from(alpha) / 255 + 255 - u16::from(alpha);
    u8::try_from(mixed).unwrap_or(u8::MAX)
}

fn is_too_large(width: u32, height: u32, limits: &Limits) -> bool {
    u64::from(width) * u64::from(height) > u64::from(limits.picture_megapixels) * 1_000_000
}

/// In a size in which text recognition works well, and fast enough.
fn fitted(picture: GrayImage) -> GrayImage {
    let (width, height) = picture.dimensions();
    let pixels = f64::from(width) * f64::from(height);
    if width.max(height) < SMALL_SIDE {
        return imageops::resize(
            &picture,
            width * ENLARGED,
            height * ENLARGED,
            FilterType::CatmullRom,
        );
    }
    let scale = (f64::from(MAX_PIXELS) / pixels).sqrt();
    if scale >= 1.0 {
        return picture;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "smaller than before"
    )]
    let shorter = |side: u32| ((f64::from(side) * scale) as u32).max(1);
    imageops::resize(
        &picture,
        shorter(width),
        shorter(height),
        FilterType::Triangle,
    )
}

/// The pages of a TIFF file. One that cannot be decoded does not affect the others.
fn pages(
    bytes: &[u8],
    limits: &Limits,
    recognition: &mut Recognition<'_>,
) -> Result<Document, Unreadable> {
    let damaged = || Unreadable::damaged("a picture");
    let mut within = tiff::decoder::Limits::default();
    within.decoding_buffer_size = usize::try_from(DECODING_BYTES).unwrap_or(usize::MAX);
    let decoder = Decoder::new(Cursor::new(bytes)).map_err(|_| damaged())?;
    let mut decoder = decoder.with_limits(within);
    let mut pages = Pages::default();
    for number in 1_u32.. {
        if number > limits.pages {
            return Err(Unreadable::TooManyPages {
                limit: limits.pages,
            });
        }
        let lines = recognition
            .begin_page(limits)
            .and_then(|()| tiff_page(&mut decoder, limits))
            .and_then(|page| recognition.recognize(&fitted(page)));
        pages.add(number, lines);
        if pages.assembly.size_bytes() > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
        if !decoder.more_images() || decoder.next_image().is_err() {
            break;
        }
    }
    Ok(pages.finish())
}

fn tiff_page(
    decoder: &mut Decoder<Cursor<&[u8]>>,
    limits: &Limits,
) -> Result<GrayImage, UnreadReason> {
    let (width, height) = decoder.dimensions().map_err(|_| UnreadReason::Failed)?;
    if is_too_large(width, height, limits) {
        return Err(UnreadReason::TooLarge);
    }
    let color = decoder.colortype().map_err(|_| UnreadReason::Failed)?;
    let palette = match color {
        ColorType::Palette(_) => decoder.get_tag_u16_vec(Tag::ColorMap).unwrap_or_default(),
        _ => Vec::new(),
    };
    let samples = match decoder.read_image().map_err(|_| UnreadReason::Failed)? {
        DecodingResult::U8(samples) => samples,
        DecodingResult::U16(samples) => samples.into_iter().map(high_byte).collect(),
        _ => return Err(UnreadReason::Failed),
    };
    let rows = Rows {
        width,
        height,
        bits: color.bit_depth().min(8),
        per_pixel: usize::from(color.num_samples()),
        samples: &samples,
    };
    let page = match color {
        ColorType::Gray(_) => {
            let most = (1_u16 << rows.bits) - 1;
            rows.page(|pixel| scaled(pixel[0], most))
        }
        ColorType::Palette(_) => rows.page(|pixel| in_palette(&palette, usize::from(pixel[0]))),
        ColorType::RGB(8 | 16) => rows.page(|pixel| gray(pixel[0], pixel[1], pixel[2])),
        ColorType::RGBA(8 | 16) => {
            rows.page(|pixel| over_white(gray(pixel[0], pixel[1], pixel[2]), pixel[3]))
        }
        ColorType::GrayA(8 | 16) => rows.page(|pixel| over_white(pixel[0], pixel[1])),
        // The first sample is the brightness.
        ColorType::YCbCr(8) | ColorType::Multiband { bit_depth: 8, .. } => {
            rows.page(|pixel| pixel[0])
        }
        ColorType::CMYK(8 | 16) => rows.page(|pixel| {
            let light = |ink: u8| over_white(0, ink).min(over_white(0, pixel[3]));
            gray(light(pixel[0]), light(pixel[1]), light(pixel[2]))
        }),
        _ => None,
    };
    page.ok_or(UnreadReason::Failed)
}

/// The samples of a picture; those of fewer than 8 bits share bytes, and each row begins with a byte.
struct Rows<'a> {
    width: u32,
    height: u32,
    bits: u8,
    per_pixel: usize,
    samples: &'a [u8],
}

impl Rows<'_> {
    /// `None` if there are too few samples.
    fn page(&self, gray: impl Fn(&[u8]) -> u8) -> Option<GrayImage> {
        let width = usize::try_from(self.width).ok()?;
        let row_bits = width.checked_mul(self.per_pixel)? * usize::from(self.bits);
        let row_bytes = row_bits.div_ceil(8);
        let mut pixels = Vec::with_capacity(width * usize::try_from(self.height).ok()?);
        for row in self.samples.chunks_exact(row_bytes.max(1)) {
            if self.bits == 8 {
                pixels.extend(row.chunks_exact(self.per_pixel).map(&gray));
            } else if self.per_pixel == 1 && matches!(self.bits, 1 | 2 | 4) {
                pixels.extend((0..width).map(|x| gray(&[self.packed(row, x)])));
            } else {
                return None;
            }
        }
        let needed = width * usize::try_from(self.height).ok()?;
        pixels.truncate(needed);
        GrayImage::from_raw(self.width, self.height, pixels)
    }

    /// A sample of 1, 2 or 4 bits, of which the first is in the highest bits.
    fn packed(&self, row: &[u8], index: usize) -> u8 {
        let bits = usize::from(self.bits);
        let at = index * bits;
        let byte = row.get(at / 8).copied().unwrap_or_default();
        let mask = u8::MAX >> (8 - self.bits);
        byte >> (8 - bits - at % 8) & mask
    }
}

fn high_byte(sample: u16) -> u8 {
    sample.to_be_bytes()[0]
}

fn scaled(sample: u8, most: u16) -> u8 {
    u8::try_from(u16::from(sample) * 255 / most.max(1)).unwrap_or(u8::MAX)
}

/// A palette has all values of red, then those of green, then those of blue.
fn in_palette(palette: &[u16], index: usize) -> u8 {
    let colors = palette.len() / 3;
    let part = |number: usize| {
        let value = palette.get(number * colors + index.min(colors.saturating_sub(1)));
        high_byte(value.copied().unwrap_or(u16::MAX))
    };
    gray(part(0), part(1), part(2))
}

#[cfg(test)]
mod tests;
