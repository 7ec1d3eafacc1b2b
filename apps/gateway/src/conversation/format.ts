// How numbers, times and names are written for people.

// Each is made once, when first needed: that takes longer than to write a thousand numbers.
const made = new Map<number | undefined, Intl.NumberFormat>();
const numbers = (digits?: number): Intl.NumberFormat => {
  const known = made.get(digits);
  if (known !== undefined) return known;
  const options = digits !== undefined && {
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
  };
  const format = new Intl.NumberFormat("en-US", { ...options });
  made.set(digits, format);
  return format;
};

/** 12345 → "12,345". */
export const formatCount = (count: number): string => numbers().format(count);

/** "0.4 ms", "12 ms", "3.2 s", "2 min 5 s". */
export function formatDuration(durationMs: number): string {
  if (durationMs < 10) return `${Math.round(durationMs * 10) / 10} ms`;
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${Math.round(durationMs / 100) / 10} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** "now", "5 min", "3 h", "2 d", then the date; `now` in ms since the epoch. */
export function formatAge(timestamp: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(timestamp)) / 60_000);
  if (!Number.isFinite(minutes)) return "";
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  return minutes < 7 * 24 * 60 ? `${Math.floor(minutes / (24 * 60))} d` : timestamp.slice(0, 10);
}

/** A share of a whole as "0.3 %"; "0 %" only when it is none. */
export function formatShare(part: number, whole: number): string {
  const percent = whole > 0 ? (part / whole) * 100 : 0;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "< 0.1 %";
  return percent < 10 ? `${percent.toFixed(1)} %` : `${Math.round(percent)} %`;
}

/** "1 call", "2 calls". */
export function formatNumberOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

/** "$4.12", "$0.0124"; what is less than a hundredth of a cent is not nothing. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "< $0.0001";
  return `$${dollars < 1 ? dollars.toFixed(4) : numbers(2).format(dollars)}`;
}
