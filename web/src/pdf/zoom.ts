/** Sizes of a shown PDF. */

/** In widths of the column. */
export const zoomLevels: readonly number[] = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];

/** The next larger or smaller level, or with 0 the one that fits the width. */
export function zoomed(zoom: number, step: -1 | 0 | 1): number {
  if (step === 0) return 1;
  const place = zoomLevels.indexOf(zoom) + step;
  return zoomLevels[Math.min(Math.max(place, 0), zoomLevels.length - 1)] ?? 1;
}
