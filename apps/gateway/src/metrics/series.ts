// Numbers and times by the values of labels, of which there are never many.

/** Numbers of one name, told apart by labels. */
export interface Counted {
  name: string;
  help: string;
  labels: readonly string[];
  /** By the values of the labels, in their order. */
  values: Map<string, { labels: Record<string, string>; value: number }>;
}

/** How long something took, in seconds, by upper bounds. */
export interface Timed {
  name: string;
  help: string;
  /** Upper bounds of the buckets, seconds. */
  bounds: readonly number[];
  /** By the values of the labels, in their order. */
  values: Map<string, TimedValues>;
}

export interface TimedValues {
  labels: Record<string, string>;
  /** One for each bound. */
  counts: number[];
  sum: number;
  count: number;
}

/** What is counted under its names. */
export interface Series {
  readonly counted: readonly Counted[];
  readonly timed: readonly Timed[];
}

/** Values of one label; further ones are "other". */
const MOST_VALUES = 100;

export function createSeries() {
  const counted: Counted[] = [];
  const timed: Timed[] = [];
  const known = new Map<string, Set<string>>();
  const bounded = (label: string, value: string) => {
    const values = known.get(label) ?? new Set();
    known.set(label, values);
    if (values.has(value)) return value;
    if (values.size >= MOST_VALUES) return "other";
    values.add(value);
    return value;
  };
  const named = (labels: readonly string[], given: Record<string, string>) =>
    Object.fromEntries(labels.map((label) => [label, bounded(label, given[label] ?? "")]));
  const keyOf = (labels: Record<string, string>) => JSON.stringify(Object.values(labels));
  return {
    ...{ counted, timed },
    counter(name: string, help: string, ...labels: string[]) {
      const values: Counted["values"] = new Map();
      counted.push({ name, help, labels, values });
      return (given: Record<string, string>, by = 1) => {
        const own = named(labels, given);
        const key = keyOf(own);
        const found = values.get(key) ?? { labels: own, value: 0 };
        found.value += by;
        values.set(key, found);
      };
    },
    timer(name: string, help: string, bounds: readonly number[], ...labels: string[]) {
      const values: Timed["values"] = new Map();
      const none = (own: Record<string, string>) => ({
        ...{ labels: own, counts: bounds.map(() => 0), sum: 0, count: 0 },
      });
      if (labels.length === 0) values.set(keyOf({}), none({}));
      timed.push({ name, help, bounds, values });
      return (ms: number, given: Record<string, string> = {}) => {
        const own = named(labels, given);
        const key = keyOf(own);
        const found = values.get(key) ?? none(own);
        const seconds = ms / 1000;
        const bucket = bounds.findIndex((bound) => seconds <= bound);
        if (bucket >= 0) found.counts[bucket]!++;
        found.sum += seconds;
        found.count++;
        values.set(key, found);
      };
    },
  };
}
