// How a count is written for people.

/** A whole number with thousands separated by commas: 20,000. */
export const number = (value: number): string => Math.round(value).toLocaleString("en-US");
