// Headers as they were written, by which requests go on and answers come back.

/** Names and values, in order and as they were written. */
export type RawHeaders = readonly (readonly [name: string, value: string])[];

/** The value of the last header of that name; undefined: there is none. `name` in lower case. */
export const headerOf = (headers: RawHeaders, name: string): string | undefined =>
  headers.findLast(([each]) => each.toLowerCase() === name)?.[1];

/** By names in lower case. */
export const headersByName = (headers: RawHeaders): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
