/** Keys that an input method has taken, as the Enter that chooses a word in Chinese or Japanese. */

/** Whether the key is the input method's. Safari ends the composition before the key, which then has the code 229. */
export function isInputMethod(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
