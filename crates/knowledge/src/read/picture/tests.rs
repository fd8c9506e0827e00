//! Tests of decoding, with pictures written here.

use tiff::encoder::{TiffEncoder, colortype};

use super::*;

/// A picture with a dark and a light pixel.
fn pair(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = image::RgbImage::from_raw(2, 1, vec![0, 0, 0, 255, 255, 255]).unwrap();
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn tiff<C: colortype::ColorType>(samples: &[C::Inner]) -> Vec<u8>
where
    [C::Inner]: tiff::encoder::TiffValue,
{
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    encoder.write_image::<C>(2, 1, samples).unwrap();
    bytes.into_inner()
}

fn tiff_pixels(bytes: &[u8]) -> Result<Vec<u8>, UnreadReason> {
    let mut decoder = Decoder::new(Cursor::new(bytes)).unwrap();
    tiff_page(&mut decoder, &Limits::default()).map(GrayImage::into_raw)
}

#[test]
fn each_format_is_decoded_to_gray() {
    for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::WebP] {
        let gray = decoded(&pair(format), &Limits::default()).unwrap();
        assert_eq!(gray.into_raw(), [0, 255], "{format:?}");
    }
    assert!(is_scan(&pair(ImageFormat::Bmp)) && !is_scan(&pair(ImageFormat::Png)));
    assert!(!is_scan(b"BMI is a number.") && !is_scan(b""));
}

#[test]
fn transparent_is_white() {
    let mut bytes = Cursor::new(Vec::new());
    let picture =
        image::RgbaImage::from_raw(3, 1, vec![0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 102]).unwrap();
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    let gray = decoded(&bytes.into_inner(), &Limits::default()).unwrap();
    assert_eq!(gray.into_raw(), [255, 0, 153]);
}

#[test]
fn tiff_samples_of_each_kind_are_gray() {
    assert_eq!(
        tiff_pixels(&tiff::<colortype::Gray8>(&[0, 200])),
        Ok(vec![0, 200])
    );
    assert_eq!(
        tiff_pixels(&tiff::<colortype::Gray16>(&[0, 0xc8ff])),
        Ok(vec![0, 200])
    );
    assert_eq!(
        tiff_pixels(&tiff::<colortype::RGB8>(&[255, 255, 255, 255, 0, 0])),
        Ok(vec![255, 76])
    );
    assert_eq!(
        tiff_pixels(&tiff::<colortype::RGBA8>(&[0, 0, 0, 0, 0, 0, 0, 255])),
        Ok(vec![255, 0])
    );
    assert_eq!(
        tiff_pixels(&tiff::<colortype::CMYK8>(&[0, 0, 0, 0, 0, 0, 0, 255])),
        Ok(vec![255, 0])
    );
    assert_eq!(
        tiff_pixels(&tiff::<colortype::Gray32Float>(&[0.0, 1.0])),
        Err(UnreadReason::Failed)
    );
}

#[test]
fn samples_of_a_few_bits_share_bytes() {
    let rows = |bits, samples| Rows {
        width: 3,
        height: 2,
        bits,
        per_pixel: 1,
        samples,
    };
    let page = |rows: Rows<'_>| rows.page(|pixel| pixel[0]).map(GrayImage::into_raw);
    let one_bit = rows(1, &[0b1010_0000, 0b0110_0000]);
    assert_eq!(page(one_bit), Some(vec![1, 0, 1, 0, 1, 1]));
    let four_bits = rows(4, &[0x12, 0x30, 0x45, 0x60]);
    assert_eq!(page(four_bits), Some(vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(page(rows(1, &[0xff])), None, "a row is missing");
    assert_eq!(page(rows(3, &[0xff; 4])), None);
    let palette = [0, u16::MAX, 0, u16::MAX, 0, u16::MAX];
    assert_eq!(
        [0, 1, 9].map(|index| in_palette(&palette, index)),
        [0, 255, 255]
    );
}

#[test]
fn pictures_come_in_a_size_that_can_be_read() {
    let size = |width, height| fitted(GrayImage::new(width, height)).dimensions();
    assert_eq!(size(600, 400), (1200, 800));
    assert_eq!(size(1700, 900), (1700, 900));
    let (width, height) = size(8000, 6000);
    assert!(
        width * height <= MAX_PIXELS && width > 4800,
        "{width} × {height}"
    );
}

#[test]
fn what_is_too_large_is_not_decoded() {
    let limits = Limits {
        picture_megapixels: 0,
        ..Limits::default()
    };
    assert_eq!(
        decoded(&pair(ImageFormat::Bmp), &limits),
        Err(Unreadable::TooManyPixels { limit: 0 })
    );
    let bytes = tiff::<colortype::Gray8>(&[0, 200]);
    let mut decoder = Decoder::new(Cursor::new(bytes.as_slice())).unwrap();
    assert_eq!(
        tiff_page(&mut decoder, &limits),
        Err(UnreadReason::TooLarge)
    );
}
