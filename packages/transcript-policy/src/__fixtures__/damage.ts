// Plants sessions, damages them in known ways, and says what a careful person could still read.

/** Numbers from a seed, so that a case can be run again. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0 || 1;
  }

  below(count: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % count;
  }

  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}

/** A planted session: the header's line, then those of its entries. */
export interface Planted {
  id: string;
  header: Buffer;
  entries: Buffer[];
}

/** A damaged file, and what has to be in the repaired one. */
export interface Damaged {
  file: Buffer;
  /** Lines that must be there to the byte, in this order, and no others but for `moved`. */
  kept: Buffer[];
  /** Those of `kept` that may have another id or parent: nothing else of them may change. */
  moved?: ReadonlySet<Buffer>;
  /** Those of `kept` that may have lost the space around them. */
  near?: ReadonlySet<Buffer>;
  /** True: the header's line may be another one with the same id. */
  isHeaderLost?: boolean;
  /** What must be found among what was taken out. */
  rest?: Buffer[];
}

const PIECES = [
  "plain words, and more of them ",
  'a "quoted" thing ',
  "braces {[( and )]} ",
  '{"type":"message","id":"feed","parentId":null,"message":{"role":"user"}} ',
  "line\nfeed, tab\tand back\\slash ",
  "नमस्ते 👋 \u2028 ",
  "C:\\new\\{table} ",
  '"}]}},{"',
  "",
];

const stampAt = (at: number) => new Date(1_770_000_000_000 + at * 1000).toISOString();

function textFrom(dice: Dice): string {
  return Array.from({ length: dice.between(1, 6) }, () => dice.one(PIECES)).join("") || "x";
}

function messageFrom(dice: Dice, at: number): object {
  const timestamp = 1_770_000_000_000 + at;
  const text = () => ({ type: "text", text: textFrom(dice) });
  const call = {
    ...{ type: "toolCall", id: `call_${at}`, name: "write" },
    arguments: {
      path: "a.json",
      entry: JSON.parse(entryLike(at)),
      deep: [[{ text: textFrom(dice) }]],
    },
  };
  return dice.one<object>([
    { role: "user", content: `${textFrom(dice)}.`, timestamp },
    {
      role: "assistant",
      content: [{ type: "thinking", thinking: textFrom(dice) }, text(), call],
      timestamp,
    },
    { role: "assistant", content: [{ type: "text", text: "ok" }], stopReason: "stop", timestamp },
    {
      role: "toolResult",
      toolCallId: `call_${at - 1}`,
      content: [text()],
      isError: false,
      timestamp,
    },
  ]);
}

/** What a call may have written into a file: no entry of this session. */
const entryLike = (at: number) =>
  `{"type":"message","id":"inner${at}","parentId":null,"timestamp":"${stampAt(at)}","message":{"role":"user","content":"inner"}}`;

/** A line as one program or another writes it. */
function lineFrom(dice: Dice, entry: Record<string, unknown>): Buffer {
  const fields = Object.entries(entry).map(([name, value]) => [
    JSON.stringify(name),
    JSON.stringify(value),
  ]);
  if (dice.below(4) === 0) fields.push(['"channel"', "1234567890123456789"], ['"ratio"', "1e400"]);
  const style = dice.below(4);
  const colon = style === 1 ? ": " : ":";
  const comma = style === 1 ? ", " : ",";
  if (style === 2) fields.push(fields.shift()!);
  const body = fields.map(([name, value]) => `${name}${colon}${value}`).join(comma);
  return Buffer.from(style === 3 ? ` {${body}} ` : `{${body}}`);
}

/** A session of `count` entries, one after the other. */
export function plant(dice: Dice, count: number): Planted {
  const id = `s${dice.below(1_000_000)}`;
  const version = { type: "session", version: 3, id, timestamp: stampAt(0), cwd: "/home/dev" };
  const entries = Array.from({ length: count }, (_, at) => {
    const base = { id: idAt(at), parentId: at === 0 ? null : idAt(at - 1), timestamp: stampAt(at) };
    const told = dice.one<Record<string, unknown>>([
      { type: "message", ...base, message: messageFrom(dice, at) },
      { type: "message", ...base, message: messageFrom(dice, at) },
      { type: "message", ...base, message: messageFrom(dice, at) },
      { type: "custom", ...base, customType: "notes", data: { text: textFrom(dice) } },
      { type: "from_the_future", ...base, what: [textFrom(dice)] },
    ]);
    return lineFrom(dice, told);
  });
  return { id, header: Buffer.from(JSON.stringify(version)), entries };
}

const idAt = (at: number) => `e${at.toString(16).padStart(7, "0")}`;

const fileOf = (lines: readonly Buffer[], end = "\n"): Buffer =>
  Buffer.concat(lines.flatMap((line) => [line, Buffer.from(end)]));

const nul = (dice: Dice) => Buffer.alloc(dice.between(1, 5000));

/** Some bytes of an entry's line, without the brace that ends it, that nobody can read alone. */
function torn(dice: Dice, line: Buffer): Buffer {
  for (;;) {
    const half = line.subarray(0, dice.between(1, line.lastIndexOf("}")));
    if (!lacksBrace(half)) return half;
  }
}

/** True: an entry to which nothing has to be added but the brace that ends it. */
function lacksBrace(half: Buffer): boolean {
  const text = half.toString("utf8").trimEnd().replace(/,$/, "");
  // A number may have been torn.
  if (/[\d.eE+-]$/.test(text)) return false;
  try {
    const { message, data } = JSON.parse(`${text}}`);
    return message !== undefined || data !== undefined;
  } catch {
    return false;
  }
}

const withFields = (line: Buffer, change: (text: string) => string): Buffer =>
  Buffer.from(change(line.toString("utf8")));

const field = (name: string) => new RegExp(`("${name}": ?)(?:"[^"]*"|null)`);

type Kind = (planted: Planted, dice: Dice) => Damaged;

/** The entries with something done to one of them, or to the place before it. */
const around =
  (
    change: (entry: Buffer, dice: Dice, next: Buffer) => { file: Buffer; rest?: Buffer[] },
    isLost = false,
  ): Kind =>
  ({ header, entries }, dice) => {
    const at = dice.between(1, entries.length - 2);
    const { file, rest } = change(entries[at]!, dice, entries[at + 1]!);
    const before = fileOf([header, ...entries.slice(0, at)]);
    const behind = fileOf(entries.slice(at + 2));
    return {
      file: Buffer.concat([before, file, behind]),
      kept: entries.filter((_, index) => !isLost || index !== at),
      // What followed what is lost has to follow something else.
      moved: new Set(isLost ? [entries[at + 1]!] : []),
      near: new Set([entries[at]!, entries[at + 1]!]),
      ...(rest !== undefined && { rest }),
    };
  };

/** A line feed of some texts, as JSON writes it, becomes `damage`, to be read as `read`. */
const inTexts =
  (damage: string, read: string): Kind =>
  ({ header, entries }) => {
    const written = (text: string) =>
      entries.map((entry) => withFields(entry, (line) => line.replace(/(?<!\\)\\n/g, () => text)));
    return { file: fileOf([header, ...written(damage)]), kept: written(read) };
  };

/** An entry ends with `end` where its last brace was; null: the next one follows on its line. */
const withoutBrace = (end: string | null): Kind =>
  around((entry, _dice, next) => {
    const half = entry.subarray(0, entry.lastIndexOf("}"));
    const parts = lacksBrace(half) ? [half, Buffer.from(end ?? "")] : [entry];
    return {
      file:
        end === null
          ? fileOf([Buffer.concat([...parts, next])])
          : fileOf([Buffer.concat(parts), next]),
    };
  });

const NOISE = ["xx", "{", "[1", "}}]", "error: disk", '{"a":', "\u0001\u0002", "<html>", '"', "\\"];
const noise = (dice: Dice) => Buffer.from(dice.one(NOISE));

/** Every way in which files were found damaged, by name. */
export const DAMAGE: Readonly<Record<string, Kind>> = {
  "nothing at all": ({ header, entries }) => ({
    file: fileOf([header, ...entries]),
    kept: entries,
  }),
  "an end without a line feed": ({ header, entries }) => ({
    file: fileOf([header, ...entries]).subarray(0, -1),
    kept: entries,
  }),
  "a torn last line": ({ header, entries }, dice) => {
    const half = torn(dice, entries.at(-1)!);
    const kept = entries.slice(0, -1);
    return { file: Buffer.concat([fileOf([header, ...kept]), half]), kept, rest: [half] };
  },
  "two entries on one line": around((entry, _dice, next) => ({
    file: fileOf([Buffer.concat([entry, next])]),
  })),
  "a torn half and the next entry on one line": around((entry, dice, next) => {
    const half = torn(dice, entry);
    return { file: fileOf([Buffer.concat([half, next])]), rest: [half] };
  }, true),
  "a torn half on a line of its own": around((entry, dice, next) => {
    const half = torn(dice, entry);
    return { file: fileOf([half, next]), rest: [half] };
  }, true),
  "an entry torn by a line feed": around((entry, dice, next) => {
    const at = dice.between(entry.indexOf("{") + 1, entry.lastIndexOf("}"));
    return { file: fileOf([entry.subarray(0, at), entry.subarray(at), next]) };
  }),
  // Two in one text are its own.
  "an entry torn by three line feeds": around((entry, dice, next) => {
    const places = placesBetweenTexts(entry);
    const third = Math.floor(places.length / 4);
    const cuts = [0, 1, 2].map((part) => places[part * third + dice.between(1, third)]!);
    const parts = [0, ...cuts].map((from, index) => entry.subarray(from, cuts[index]));
    return { file: fileOf([...parts, next]) };
  }),
  "an entry without its last brace": withoutBrace(""),
  "an entry with a comma for its last brace": withoutBrace(","),
  "an entry with NULs for its last brace": withoutBrace("\0\0"),
  "an entry without its last brace and the next one on its line": withoutBrace(null),
  "a run of NUL before an entry": around((entry, dice, next) => ({
    file: fileOf([Buffer.concat([nul(dice), entry]), next]),
  })),
  "a run of NUL in place of the end of an entry": around((entry, dice, next) => {
    const half = torn(dice, entry);
    const file = fileOf([
      Buffer.concat([half, Buffer.alloc(entry.length - half.length + 1), next]),
    ]);
    return { file, rest: [half] };
  }, true),
  "lines of NUL": around((entry, dice, next) => ({
    file: fileOf([nul(dice), entry, nul(dice), next]),
  })),
  "a byte order mark before an entry": around((entry, _dice, next) => ({
    file: fileOf([Buffer.concat([Buffer.from("\uFEFF"), entry]), next]),
  })),
  "a byte order mark at the beginning": ({ header, entries }) => ({
    file: Buffer.concat([Buffer.from("\uFEFF"), fileOf([header, ...entries])]),
    kept: entries,
  }),
  "noise on a line of its own": around((entry, dice, next) => {
    const rest = noise(dice);
    return { file: fileOf([entry, rest, next]), rest: [rest] };
  }),
  "noise before an entry": around((entry, dice, next) => {
    const rest = noise(dice);
    return { file: fileOf([Buffer.concat([rest, entry]), next]), rest: [rest] };
  }),
  "noise behind an entry": around((entry, dice, next) => {
    const rest = noise(dice);
    return { file: fileOf([Buffer.concat([entry, rest]), next]), rest: [rest] };
  }),
  "a line twice": ({ header, entries }, dice) => {
    const at = dice.below(entries.length);
    const again = dice.between(at + 1, entries.length);
    return { file: fileOf([header, ...entries.toSpliced(again, 0, entries[at]!)]), kept: entries };
  },
  "a block of lines twice": ({ header, entries }, dice) => {
    const to = dice.between(2, entries.length);
    return {
      file: fileOf([header, ...entries.slice(0, to), ...entries]),
      kept: entries,
    };
  },
  "two processes that wrote at once": ({ header, entries }, dice) => {
    const at = dice.between(1, entries.length - 2);
    const entry = entries[at]!;
    // Nobody can tell space before an entry from space in the text that was torn.
    const next = Buffer.from(entries[at + 1]!.toString("utf8").trim());
    const cut = dice.between(entry.indexOf("{") + 1, entry.length - 1);
    const woven = [Buffer.concat([entry.subarray(0, cut), next]), entry.subarray(cut)];
    const [before, behind] = [entries.slice(0, at), entries.slice(at + 2)];
    return {
      file: fileOf([header, ...before, ...woven, ...behind]),
      kept: [...before, entry, next, ...behind],
      near: new Set([entry]),
    };
  },
  "no header": ({ entries }) => ({ file: fileOf(entries), kept: entries, isHeaderLost: true }),
  "a torn header": ({ header, entries }, dice) => ({
    file: Buffer.concat([torn(dice, header), Buffer.from(dice.one(["\n", ""])), fileOf(entries)]),
    kept: entries,
    near: new Set([entries[0]!]),
    isHeaderLost: true,
  }),
  "a header behind the first entry": ({ header, entries }) => ({
    file: fileOf([entries[0]!, header, ...entries.slice(1)]),
    kept: entries,
  }),
  "a flipped bit in what makes the header JSON": ({ header, entries }, dice) => {
    const signs = [...header.keys()].filter((at) =>
      '{}":,'.includes(String.fromCharCode(header[at]!)),
    );
    const flipped = Buffer.from(header);
    flipped[dice.one(signs)]! ^= 1 << dice.below(7);
    return { file: fileOf([flipped, ...entries]), kept: entries, isHeaderLost: true };
  },
  "a parent that is not there": ({ header, entries }, dice) => {
    const at = dice.between(1, entries.length - 1);
    const astray = withFields(entries[at]!, (text) =>
      text.replace(field("parentId"), '$1"nowhere"'),
    );
    const kept = entries.with(at, astray);
    return { file: fileOf([header, ...kept]), kept, moved: new Set([astray]) };
  },
  "an entry that is its own parent": ({ header, entries }, dice) => {
    const at = dice.between(1, entries.length - 1);
    const own = withFields(entries[at]!, (text) =>
      text.replace(field("parentId"), `$1"${idAt(at)}"`),
    );
    const kept = entries.with(at, own);
    return { file: fileOf([header, ...kept]), kept, moved: new Set([own]) };
  },
  "a circle of parents": ({ header, entries }, dice) => {
    const at = dice.between(1, entries.length - 2);
    const to = dice.between(at + 1, entries.length - 1);
    const closing = withFields(entries[at]!, (text) =>
      text.replace(field("parentId"), `$1"${idAt(to)}"`),
    );
    const kept = entries.with(at, closing);
    return { file: fileOf([header, ...kept]), kept, moved: new Set([closing]) };
  },
  "one id for several entries": ({ header, entries }, dice) => {
    const from = dice.between(1, entries.length - 2);
    const to = dice.between(from + 1, entries.length - 1);
    const kept = entries.map((entry, at) =>
      withFields(entry, (text) => {
        const named = at > from && at <= to ? text.replace(field("id"), `$1"${idAt(from)}"`) : text;
        const follows = at - 1 > from && at - 1 <= to;
        return follows ? named.replace(field("parentId"), `$1"${idAt(from)}"`) : named;
      }),
    );
    return { file: fileOf([header, ...kept]), kept, moved: new Set(kept.slice(from)) };
  },
  "bytes that are no text in an entry": ({ header, entries }, dice) => {
    const at = dice.below(entries.length);
    const entry = entries[at]!;
    const place = entry.indexOf('text":"') + 7;
    const odd = Buffer.from([0xff, 0xc3, 0x28]);
    const mixed = Buffer.concat([entry.subarray(0, place), odd, entry.subarray(place)]);
    const kept = place < 7 ? entries : entries.with(at, mixed);
    return { file: Buffer.concat([fileOf([header, ...kept]), Buffer.from("x\n")]), kept };
  },
  "a backslash that escapes nothing": inTexts("\\q", "\\\\q"),
  "an escape that was cut": inTexts("\\u1~", "\\\\u1~"),
  "a control character in a text": inTexts("\t", "\\u0009"),
  "a file written backwards without one of its lines": ({ header, entries }, dice) => {
    const at = dice.between(1, entries.length - 2);
    const kept = entries.toSpliced(at, 1);
    const file = fileOf([header, ...kept.toReversed()]);
    return { file, kept, moved: new Set([entries[at + 1]!]) };
  },
  "a line that is gone": around((_entry, _dice, next) => ({ file: fileOf([next]) }), true),
  "an entry over many lines": ({ header, entries }, dice) => {
    const at = dice.below(entries.length);
    const entry: unknown = JSON.parse(entries[at]!.toString("utf8").replace("1e400", "1"));
    const kept = entries.with(at, Buffer.from(JSON.stringify(entry)));
    const spread = Buffer.from(JSON.stringify(entry, null, 2));
    return { file: fileOf([header, ...kept.with(at, spread)]), kept, moved: new Set([kept[at]!]) };
  },
  "line ends of Windows": ({ header, entries }, dice) => ({
    file: fileOf(
      [header, ...entries.toSpliced(dice.below(entries.length), 0, Buffer.from("bad"))],
      "\r\n",
    ),
    kept: entries,
    rest: [Buffer.from("bad")],
  }),
  "an entry without its beginning": around((entry, dice, next) => {
    // One that lacks nothing but its brace is put together again.
    const tail = entry.subarray(dice.between(entry.indexOf("{") + 2, entry.length - 1));
    return { file: fileOf([tail, next]), rest: [tail] };
  }, true),
  "an entry with a hole": around((entry, dice, next) => {
    const from = dice.between(entry.indexOf("{") + 1, entry.lastIndexOf("}") - 1);
    const hole = Buffer.concat([
      entry.subarray(0, from),
      Buffer.from([0]),
      entry.subarray(from + 1),
    ]);
    return { file: fileOf([hole, next]), rest: [] };
  }, true),
  "two lines in another order": ({ header, entries }, dice) => {
    const at = dice.between(0, entries.length - 2);
    const swapped = entries.with(at, entries[at + 1]!).with(at + 1, entries[at]!);
    return { file: fileOf([header, ...swapped]), kept: entries };
  },
  "a line far from its place": ({ header, entries }, dice) => {
    const at = dice.below(entries.length);
    const rest = entries.toSpliced(at, 1);
    const moved = rest.toSpliced(dice.between(0, rest.length), 0, entries[at]!);
    return { file: fileOf([header, ...moved]), kept: entries };
  },
  "lines in any order": ({ header, entries }, dice) => {
    const left = [...entries];
    const mixed = entries.map(() => left.splice(dice.below(left.length), 1)[0]!);
    return { file: fileOf([header, ...mixed]), kept: entries };
  },
  "a file written backwards": ({ header, entries }, dice) => {
    const lines = entries.toReversed();
    const file = fileOf(dice.below(2) === 0 ? [header, ...lines] : [...lines, header]);
    return { file, kept: entries };
  },
  "the lines of a list": ({ header, entries }) => ({
    file: Buffer.from(
      `[\n${[header, ...entries].map((line) => line.toString("utf8")).join(",\n")}\n]\n`,
    ),
    kept: entries,
    near: new Set(entries),
  }),
};

/** Where a line may be parted without parting a text. */
function placesBetweenTexts(entry: Buffer): number[] {
  const places: number[] = [];
  let isText = false;
  for (let at = 0; at < entry.length; at++) {
    const sign = String.fromCharCode(entry[at]!);
    if (isText && sign === "\\") at++;
    else if (sign === '"') isText = !isText;
    if (!isText && at > 0) places.push(at);
  }
  return places;
}
