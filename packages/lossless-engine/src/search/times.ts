// Reads the days and months that a query names.

/** A span of time, ms since the epoch. */
export interface Span {
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

/** Where in a query a time is named, and which. */
export interface NamedTime {
  readonly start: number;
  readonly end: number;
  readonly span: Span;
}

const MONTHS: readonly string[] =
  "january february march april may june july august september october november december".split(
    " ",
  );
const MONTH = `(${MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join("|")})`;
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(?:,? +(\\d{4}))";
/** A form, and where in it year, month and day stand; 0 = nowhere. */
const FORMS: readonly { form: RegExp; year: number; month: number; day: number }[] = [
  { form: /\b(\d{4})-(\d\d)-(\d\d)\b/g, year: 1, month: 2, day: 3 },
  { form: /\b(\d{4})-(\d\d)\b(?!-)/g, year: 1, month: 2, day: 0 },
  { form: new RegExp(`\\b${DAY}(?: of)? ${MONTH}\\b${YEAR}?`, "g"), day: 1, month: 2, year: 3 },
  { form: new RegExp(`\\b${MONTH} ${DAY}\\b${YEAR}?`, "g"), month: 1, day: 2, year: 3 },
  { form: new RegExp(`\\b${MONTH}\\b${YEAR}`, "g"), month: 1, year: 2, day: 0 },
  {
    form: new RegExp(`\\b(?:in|during|of|since|by|last|this) ${MONTH}\\b`, "g"),
    month: 1,
    year: 0,
    day: 0,
  },
];

/**
 * `query` in lower case. Where it names no year, the newest such time that has begun at `now` is
 * meant. English, and ISO 8601.
 */
export function timesIn(query: string, now: number): NamedTime[] {
  const found: NamedTime[] = [];
  for (const { form, ...at } of FORMS)
    for (const match of query.matchAll(form)) {
      const [start, end] = [match.index, match.index + match[0].length];
      if (found.some((other) => start < other.end && end > other.start)) continue;
      const year = at.year === 0 ? undefined : match[at.year];
      const day = at.day === 0 ? undefined : Number(match[at.day]);
      const span = spanOf(year && Number(year), monthOf(match[at.month]!), day, now);
      if (span !== undefined) found.push({ start, end, span });
    }
  return found;
}

/** Counted from 0. */
const monthOf = (text: string) =>
  /^\d/.test(text)
    ? Number(text) - 1
    : MONTHS.findIndex((name) => name.startsWith(text.slice(0, 3)));

/** Undefined: there is no such day. */
function spanOf(
  year: number | undefined | "",
  month: number,
  day: number | undefined,
  now: number,
): Span | undefined {
  const within = (of: number): Span =>
    day === undefined
      ? { from: Date.UTC(of, month), to: Date.UTC(of, month + 1) }
      : { from: Date.UTC(of, month, day), to: Date.UTC(of, month, day + 1) };
  if (month < 0 || month > 11 || (day !== undefined && (day < 1 || day > 31))) return undefined;
  if (typeof year === "number") return within(year);
  const newest = within(new Date(now).getUTCFullYear());
  return newest.from <= now ? newest : within(new Date(now).getUTCFullYear() - 1);
}
