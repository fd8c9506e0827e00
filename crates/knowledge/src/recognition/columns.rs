//! Finds the columns of a page by the white between them, for scripts whose spaces the program takes for such gaps.

use image::{GrayImage, imageops};

/// The page is looked at in squares of this many pixels, in which grain does not count.
const SQUARE: u32 = 4;
/// Minimum width of the white between columns, in squares: a tenth of an inch. Skewed pages have less of it.
const MIN_GAP: usize = 7;
/// The white is not nearer to the edges of the text than this part of its width.
const MIN_COLUMN: f64 = 0.2;
/// Minimum height of columns, in squares: half an inch.
const MIN_HEIGHT: usize = 38;
/// Minimum part of the height of columns in which there is text on the left and on the right.
const MIN_FILLED: f64 = 0.25;
/// The margin that is left around a part, in squares.
const MARGIN: usize = 3;

/// A part of the page with one column, in squares; from the first to before the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

/// The parts of the page in the order in which they are read; only the page itself if it has one column.
pub(super) fn split(page: &GrayImage) -> Vec<GrayImage> {
    let ink = Ink::of(page);
    let parts = ink.parts();
    if parts.len() < 2 {
        return vec![page.clone()];
    }
    let cut = |part: Part| {
        let pixels = |squares: usize| u32::try_from(squares).unwrap_or(u32::MAX) * SQUARE;
        let (left, top) = (pixels(part.left), pixels(part.top));
        let width = pixels(part.right).saturating_sub(left);
        let height = pixels(part.bottom).saturating_sub(top);
        imageops::crop_imm(page, left, top, width, height).to_image()
    };
    parts.into_iter().map(cut).collect()
}

/// Which squares of a page have ink.
struct Ink {
    width: usize,
    height: usize,
    squares: Vec<bool>,
}

impl Ink {
    fn of(page: &GrayImage) -> Self {
        let small = imageops::thumbnail(
            page,
            (page.width() / SQUARE).max(1),
            (page.height() / SQUARE).max(1),
        );
        let threshold = threshold(&small);
        Self {
            width: small.width() as usize,
            height: small.height() as usize,
            squares: small.pixels().map(|pixel| pixel.0[0] < threshold).collect(),
        }
    }

    fn row(&self, row: usize) -> &[bool] {
        let start = row * self.width;
        self.squares
            .get(start..start + self.width)
            .unwrap_or_default()
    }

    fn has_ink(&self, row: usize, from: usize, to: usize) -> bool {
        let squares = self.row(row).get(from..to).unwrap_or_default();
        squares.iter().any(|is_ink| *is_ink)
    }

    fn parts(&self) -> Vec<Part> {
        let whole = Part {
            left: 0,
            right: self.width,
            top: 0,
            bottom: self.height,
        };
        let Some((from, to)) = self.gap() else {
            return vec![whole];
        };
        let middle = usize::midpoint(from, to);
        let mut parts = Vec::new();
        let mut above = 0;
        for (top, bottom) in self.columns(from, to) {
            if top > above {
                parts.push(Part {
                    top: above,
                    bottom: top,
                    ..whole
                });
            }
            parts.extend(
                [(0, middle), (middle, self.width)].map(|(left, right)| Part {
                    left,
                    right,
                    top: top.saturating_sub(MARGIN),
                    bottom: (bottom + MARGIN).min(self.height),
                }),
            );
            above = bottom;
        }
        if parts.is_empty() {
            return vec![whole];
        }
        parts.push(Part {
            top: above,
            ..whole
        });
        parts.retain(|part| {
            (part.top..part.bottom).any(|row| self.has_ink(row, part.left, part.right))
        });
        parts
    }

    /// The white that is crossed by the fewest rows with ink: from where to where it extends.
    fn gap(&self) -> Option<(usize, usize)> {
        let mut counts = vec![0_usize; self.width];
        for row in 0..self.height {
            for (count, is_ink) in counts.iter_mut().zip(self.row(row)) {
                *count += usize::from(*is_ink);
            }
        }
        let first = counts.iter().position(|count| *count > 0)?;
        let last = counts.iter().rposition(|count| *count > 0)?;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let margin = ((last - first) as f64 * MIN_COLUMN) as usize;
        let inner = counts.get(first + margin..last.saturating_sub(margin))?;
        let rows: Vec<usize> = (0..self.height)
            .filter(|row| self.has_ink(*row, first, last))
            .collect();
        // A title above the columns crosses the white, but less than half of the rows do.
        let is_white = |count: &usize| *count * 2 < rows.len();
        let mut best: Option<(usize, usize, usize)> = None;
        for (index, window) in inner.windows(MIN_GAP).enumerate() {
            let crossed = window.iter().copied().max().unwrap_or(usize::MAX);
            if is_white(&crossed) && best.is_none_or(|(_, _, least)| crossed < least) {
                let from = first + margin + index;
                best = Some((from, from + MIN_GAP, crossed));
            }
        }
        // The middle of the white is best, as pages may be skewed.
        let (from, mut to, crossed) = best?;
        while counts.get(to).is_some_and(|count| *count <= crossed) {
            to += 1;
        }
        let middle = usize::midpoint(from, to);
        let half = MIN_GAP / 2;
        Some((middle.saturating_sub(half), middle + half + 1))
    }

    /// The rows, from the first to before the last, in which there are columns beside the white.
    fn columns(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut start = 0;
        for row in 0..=self.height {
            if row < self.height && !self.has_ink(row, from, to) {
                continue;
            }
            found.extend(self.filled(start, row, from, to));
            start = row + 1;
        }
        found
    }

    /// These rows without those at their beginning and end that have no ink, if they are two columns.
    fn filled(&self, start: usize, end: usize, from: usize, to: usize) -> Option<(usize, usize)> {
        let left = |row: &usize| self.has_ink(*row, 0, from);
        let right = |row: &usize| self.has_ink(*row, to, self.width);
        let is_filled = |row: &usize| left(row) || right(row);
        let first = (start..end).find(is_filled)?;
        let end = (start..end).rfind(is_filled)? + 1;
        let height = end - first;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let is_enough = |count: usize| count as f64 >= MIN_FILLED * height as f64;
        let on_left = (first..end).filter(left).count();
        let on_right = (first..end).filter(right).count();
        (height >= MIN_HEIGHT && is_enough(on_left) && is_enough(on_right)).then_some((first, end))
    }
}

/// The brightness that separates ink from paper best (Otsu's method).
#[expect(clippy::cast_precision_loss, reason = "at most some million squares")]
fn threshold(page: &GrayImage) -> u8 {
    let mut counts = [0_u64; 256];
    for pixel in page.pixels() {
        if let Some(count) = counts.get_mut(usize::from(pixel.0[0])) {
            *count += 1;
        }
    }
    let total: u64 = counts.iter().sum();
    let sum: u64 = (0..).zip(counts).map(|(value, count)| value * count).sum();
    let mut best = (0.0, 128);
    let (mut below, mut sum_below) = (0, 0);
    for (value, count) in (0..=u8::MAX).zip(counts) {
        below += count;
        sum_below += u64::from(value) * count;
        let above = total - below;
        if below == 0 || above == 0 {
            continue;
        }
        let difference = sum_below as f64 / below as f64 - (sum - sum_below) as f64 / above as f64;
        let variance = below as f64 * above as f64 * difference * difference;
        if variance > best.0 {
            best = (variance, value.saturating_add(1));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use image::Luma;

    use super::*;

    /// A page with lines of text in these places: left, right, top and bottom.
    fn page(texts: &[(u32, u32, u32, u32)]) -> GrayImage {
        let mut page = GrayImage::from_pixel(1000, 1400, Luma([240]));
        for (left, right, top, bottom) in texts {
            for y in (*top..*bottom).filter(|y| y % 40 < 24) {
                for x in (*left..*right).filter(|x| x % 30 < 22) {
                    page.put_pixel(x, y, Luma([20]));
                }
            }
        }
        page
    }

    #[track_caller]
    fn check(texts: &[(u32, u32, u32, u32)], expected: &[(u32, u32)]) {
        let parts = split(&page(texts));
        let sizes: Vec<(u32, u32)> = parts.iter().map(|it| (it.width(), it.height())).collect();
        assert_eq!(sizes, expected);
    }

    #[test]
    fn a_page_with_one_column_stays_whole() {
        check(&[(100, 900, 100, 1300)], &[(1000, 1400)]);
        check(&[], &[(1000, 1400)]);
        // Lines that end early.
        check(
            &[(100, 900, 100, 700), (100, 400, 700, 1300)],
            &[(1000, 1400)],
        );
    }

    #[test]
    fn columns_are_cut_out_below_a_title() {
        check(
            &[
                (100, 900, 120, 200),
                (100, 460, 280, 1300),
                (540, 900, 280, 1300),
            ],
            &[(1000, 280), (500, 1044), (500, 1044)],
        );
    }

    #[test]
    fn grain_does_not_close_the_white() {
        let mut page = page(&[(100, 460, 280, 1300), (540, 900, 280, 1300)]);
        let mut state = 1_u32;
        for pixel in page.pixels_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            pixel.0[0] = pixel.0[0].saturating_sub((state >> 24) as u8 / 3);
        }
        assert_eq!(split(&page).len(), 2);
    }
}
