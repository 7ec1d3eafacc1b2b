// How a count is written for people.

// Made once, and not before a number is written: it takes longer than a thousand of them.
let made: Intl.NumberFormat | undefined;
const numbers = (): Intl.NumberFormat => (made ??= new Intl.NumberFormat("en-US"));

/** A whole number with thousands separated by commas: 20,000. */
export const number = (value: number): string => numbers().format(Math.round(value));

/** A difference: "+1,204", "−9,310", "±0". */
export const signed = (value: number): string =>
  value === 0 ? "±0" : `${value > 0 ? "+" : "−"}${number(Math.abs(value))}`;

/** A count with its noun: "1 turn", "1,200 turns". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;
