/** Keys handled by an input method, such as the Enter that selects a word in Chinese or Japanese. */

/**
 * Whether the key belongs to the input method. Safari ends the composition before the key event, which then has the
 * code 229.
 */
export function isInputMethod(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
