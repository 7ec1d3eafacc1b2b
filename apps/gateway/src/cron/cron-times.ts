// Reads the five fields that say at which minutes, hours and days something is due.

/** At which minutes of which hours of which days. */
export interface CronTimes {
  /** Rising, 0 to 59. */
  readonly minutes: readonly number[];
  /** Rising, 0 to 23. */
  readonly hours: readonly number[];
  /** Month 1 to 12, day 1 to 31, weekday 0 (Sunday) to 6. */
  isDay(month: number, day: number, weekday: number): boolean;
}

export type ParsedCron = { ok: true; times: CronTimes } | { ok: false; reason: string };

interface Field {
  name: string;
  least: number;
  most: number;
  names?: readonly string[];
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const WEEKDAYS = "sun mon tue wed thu fri sat".split(" ");
const FIELDS: readonly Field[] = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day", least: 1, most: 31 },
  { name: "month", least: 1, most: 12, names: MONTHS },
  // 7 is Sunday as well.
  { name: "weekday", least: 0, most: 7, names: WEEKDAYS },
];
const PART = /^(?:\*|([a-z]{3}|\d{1,2})(?:-([a-z]{3}|\d{1,2}))?)(?:\/(\d{1,2}))?$/;

/**
 * As crontab(5) has it: lists, ranges, steps, names of months and weekdays. Where both a day and a
 * weekday are named, either will do.
 */
export function parseCron(text: string): ParsedCron {
  const said = text.trim().toLowerCase().split(/\s+/);
  if (said.length !== FIELDS.length)
    return {
      ok: false,
      reason: `"${text}" is no schedule: say "every 30m", "at 2026-12-01T08:00:00Z", or five fields (minute, hour, day, month, weekday) such as "0 8 * * 1-5"`,
    };
  const read: ReadonlySet<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const values = valuesOf(said[index]!, field);
    if (values === undefined)
      return {
        ok: false,
        reason: `"${said[index]}" is no ${field.name}: it goes from ${field.least} to ${field.most}, with lists (1,15), ranges (1-5) and steps (*/10)`,
      };
    read.push(values);
  }
  const [minutes, hours, days, months, weekdays] = read as [
    ...[ReadonlySet<number>, ReadonlySet<number>, ReadonlySet<number>],
    ...[ReadonlySet<number>, ReadonlySet<number>],
  ];
  const isEither = !said[2]!.startsWith("*") && !said[4]!.startsWith("*");
  return {
    ok: true,
    times: {
      minutes: [...minutes].sort((a, b) => a - b),
      hours: [...hours].sort((a, b) => a - b),
      isDay(month, day, weekday) {
        const isOn = [days.has(day), weekdays.has(weekday)] as const;
        return months.has(month) && (isEither ? isOn[0] || isOn[1] : isOn[0] && isOn[1]);
      },
    },
  };
}

/** Undefined: it is none of the field. */
function valuesOf(text: string, field: Field): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const found = PART.exec(part);
    if (found === null) return undefined;
    const [, from, to, step = "1"] = found;
    const isOpen = from === undefined || (to === undefined && found[3] !== undefined);
    const first = from === undefined ? field.least : numberOf(from, field);
    const last = isOpen ? mostOf(field) : numberOf(to ?? from, field);
    const by = Number(step);
    if (first === undefined || last === undefined || first > last || by === 0) return undefined;
    for (let value = first; value <= last; value += by)
      values.add(field.name === "weekday" ? value % 7 : value);
  }
  return values;
}

const mostOf = ({ name, most }: Field) => (name === "weekday" ? 6 : most);

function numberOf(text: string, { least, most, names = [] }: Field): number | undefined {
  const named = names.indexOf(text);
  const value = named >= 0 ? named + least : Number(text);
  return Number.isInteger(value) && value >= least && value <= most ? value : undefined;
}
