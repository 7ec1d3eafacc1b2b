// How a count is written for people.

/** A whole number with thousands separated by commas: 20,000. */
export const number = (value: number): string => Math.round(value).toLocaleString("en-US");

/** A count with its noun: "1 turn", "1,200 turns". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;
