/** Times in recordings. */

const padded = (part: number) => String(part).padStart(2, "0");

/** As players show it: `4:07` or `1:04:07`. */
export function timeOf(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = padded(Math.floor(seconds) % 60);
  return hours > 0 ? `${hours}:${padded(minutes)}:${rest}` : `${minutes}:${rest}`;
}
