/** Calendar days in the user's time zone. */

export const dayOf = (at: number) => new Date(at).toDateString();

/** The moment at which the day of `at` ends. */
export const endOfDay = (at: number) => new Date(at).setHours(24, 0, 0, 0);
