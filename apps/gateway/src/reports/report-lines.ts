// Writes turn reports as lines that take little room, and reads lines of every kind.
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { fromJson, toJson } from "../own-json.ts";

/** Where a line stands in its file, bytes. */
export interface LinePlace {
  start: number;
  length: number;
}

/** A line that later ones are written as a difference to. */
export interface BaseLine extends LinePlace {
  /** Its report. */
  text: string;
}

/** What began before a file that goes on where another one was full. */
export interface FileStart {
  turns: number;
  bytes: number;
  /** Where the branch of the last call before it ended. Absent: nobody knows. */
  leafId?: string | null;
}

/** What compression looks back at. */
const MOST_LOOKED_AT = 32 * 1024;
/** Memory that is taken at a time to unpack one: most reports are smaller. */
const CHUNK_BYTES = 4096;
/** A report is never larger; a line that says so is none. */
const MOST_BYTES = 512 * 2 ** 20;

/**
 * What most reports say, for those that have no other report before them. Never to be changed:
 * what was written with it can only be read with it.
 */
const USUAL = Buffer.from(
  [
    '{"v":1,"turnId":"","sessionId":"","sessionKey":"agent:main:","startedAt":"2026-01-01T00:00:00.000Z","durationMs":,"hostMs":',
    ',"outcome":"completed","reason":null,"model":{"requested":"openai/gpt-","resolved":"anthropic/claude-","api":"openai-completions"}',
    ',"engine":{"configured":"lossless","ran":"lossless","infoId":"lossless","name":"Lossless Context Engine","source":"configured","ownsCompaction":true,"degraded":null,"projection":null}',
    ',"engine":{"configured":null,"ran":"legacy","infoId":"legacy","name":"Legacy Context Engine","source":"default","ownsCompaction":false,"degraded":null,"projection":null},"lifecycle":"durable"',
    ',"lifecycle":"eager","engineCalls":[{"method":"bootstrap","durationMs":0.,"outcome":"ok"},{"method":"assemble","durationMs":0.,"outcome":"ok"},{"method":"afterTurn","durationMs":0.,"outcome":"ok"},{"method":"ingest","durationMs":0.,"outcome":"ok"}]',
    ',"budget":{"contextWindow":200000,"reserve":20000,"promptBudget":180000,"fixedTokens":,"tokenBudget":,"assembled":{"estimate":,"low":,"high":},"engineEstimate":null,"tokenRatio":1.,"historyMessages":,"assembledMessages":}',
    ',"promptEntryId":"","replyEntryId":"","historyChanges":[],"modelCalls":[{"system":[{"source":{"kind":"system","part":"base"},"code":"system-prompt","reason":"system prompt","tokens":,"hash":""}],',
    '"tools":[{"source":{"kind":"tool-schema","name":"session_search"},"code":"tool-schema","reason":"tool schema","tokens":,"hash":""},{"source":{"kind":"tool-schema","name":"session_read"},"code":"tool-schema","reason":"tool schema","tokens":,"hash":""},{"source":{"kind":"tool-schema","name":"sessions_spawn"},"code":"tool-schema","reason":"tool schema","tokens":,"hash":""}],',
    '"messages":{"kept":,"items":[{"source":{"kind":"summary","summaryId":""},"role":"user","code":"engine","reason":"made by the engine","tokens":,"hash":""},{"source":{"kind":"entry","entryId":""},"role":"toolResult","code":"history","reason":"history","tokens":,"hash":""},{"source":{"kind":"entry","entryId":""},"role":"assistant","code":"history","reason":"history","tokens":,"hash":""},{"source":{"kind":"entry","entryId":""},"role":"user","code":"prompt","reason":"prompt","tokens":,"hash":""}],"tokens":}',
    ',"requestHash":"","leafId":"","size":{"tokens":,"source":"counted","water":{"high":,"low":}},"usage":{"input":,"output":,"cacheRead":0,"cacheWrite":0,"totalTokens":,"cost":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0,"total":0}}',
    ',"stopReason":"toolUse","stopReason":"stop","error":null,"retries":0,"index":0,"durationMs":,"policyChanges":[],"cache":{"predicted":0,"broke":{"code":"not-cached"},"billed":0,"written":0}}],"toolCalls":[{"name":"","durationMs":,"isError":false}],"compactions":[]}',
  ].join(""),
);

/**
 * One line, without its end; `base`: its report is told as a difference to that one, which the line
 * brings along where `bringsBase`. `partBytes`: of the parts that were stored with it.
 */
export function encodeLine(
  report: string,
  base?: BaseLine,
  {
    partBytes = 0,
    bringsBase = false,
  }: { partBytes?: number | undefined; bringsBase?: boolean } = {},
): string {
  const dictionary = base === undefined ? USUAL : Buffer.from(base.text);
  const z = packed(report, dictionary);
  const on = base === undefined ? {} : { on: [base.start, base.length] };
  return toJson({
    ...{ v: 2, ...on, ...(partBytes > 0 && { parts: partBytes }), sum: crc32(report), z },
    ...(bringsBase && { copy: packed(base!.text, USUAL) }),
  });
}

/** Pure. Bytes of parts that were stored with the reports of a file. */
export const partBytesIn = (text: string): number =>
  [...text.matchAll(/^\{"v":2,(?:"on":\[\d+,\d+\],)?"parts":(\d+)/gm)].reduce(
    (sum, [, bytes]) => sum + Number(bytes),
    0,
  );

/** Others can be written as a difference to it. */
export const mayBeBase = (report: string): boolean => Buffer.byteLength(report) <= MOST_LOOKED_AT;

const packed = (report: string, dictionary: Buffer): string =>
  deflateRawSync(report, { dictionary, level: 9 }).toString("base64");

export const encodeStart = (after: FileStart): string => toJson({ v: 2, after });

/** Pure. Of any line, also one whose report would take long to unpack. */
export function startIn(line: string): FileStart | undefined {
  if (!line.startsWith(START)) return undefined;
  const decoded = decodeLine(line);
  return decoded.kind === "start" ? decoded.after : undefined;
}

/** What every line that is one begins with. */
const START = '{"v":2,"after":';

export type DecodedLine =
  | { kind: "report"; text: string }
  /** A report that is told as a difference to another one of the same file. */
  | { kind: "difference"; on: LinePlace; packed: Packed; copy: string | undefined }
  | { kind: "start"; after: FileStart }
  | { kind: "unreadable" };

/** `sum`: of the report, so that one letter that is another is found. Absent: in older lines. */
interface Packed {
  z: string;
  sum?: number | undefined;
}

interface StoredLine {
  v?: unknown;
  z?: unknown;
  sum?: number;
  on?: [number, number];
  copy?: string;
  after?: FileStart;
}

/** Pure. Lines of earlier versions are their reports. */
export function decodeLine(line: string): DecodedLine {
  try {
    const stored = fromJson(line) as StoredLine;
    if (stored.v === 1) return { kind: "report", text: line };
    if (stored.v !== 2) return { kind: "unreadable" };
    if (stored.after !== undefined) return { kind: "start", after: stored.after };
    if (typeof stored.z !== "string") return { kind: "unreadable" };
    const { z, on, sum } = stored;
    const packed = { z, sum };
    if (on !== undefined)
      return { kind: "difference", on: { start: on[0], length: on[1] }, packed, copy: stored.copy };
    return { kind: "report", text: inflate(packed, USUAL) };
  } catch {
    return { kind: "unreadable" };
  }
}

/** Undefined: it is not what was written. */
export function decodeDifference(packed: Packed, base: string): string | undefined {
  try {
    return inflate(packed, Buffer.from(base));
  } catch {
    return undefined;
  }
}

function inflate({ z, sum }: Packed, dictionary: Buffer): string {
  const text = inflateRawSync(Buffer.from(z, "base64"), {
    ...{ dictionary, maxOutputLength: MOST_BYTES, chunkSize: CHUNK_BYTES },
  }).toString("utf8");
  if (sum !== undefined && crc32(text) !== sum) throw new Error("it is not what was written");
  return text;
}

/** Reports that others are a difference to, kept while a file is read. */
const KEPT_BASES = 4;
/** A base may be a difference itself, to one that is none. */
const MOST_DEPTH = 2;

/** The reports of a file's lines. */
export interface LineReader {
  /** `start`: where it stands in its file. Undefined: nobody can read it, or it is none. */
  read(line: string, start: number): Promise<string | undefined>;
}

/** `depth` 0: it is no difference itself. */
interface ReadReport {
  text: string;
  depth: number;
}

export interface LineSource {
  /** A line that stands before those that are read; undefined = it is gone. */
  lineAt(place: LinePlace): Promise<string | undefined>;
  /** The file's whole text, for where a line is damaged. */
  all(): Promise<string>;
}

export function createLineReader({ lineAt, all }: LineSource): LineReader {
  let mended: Promise<ReadonlyMap<number, string>> | undefined;
  const bases = new Map<number, ReadReport>();
  const keep = (start: number, report: ReadReport | undefined) => {
    if (report === undefined || report.depth > 1 || !mayBeBase(report.text)) return;
    bases.set(start, report);
    if (bases.size > KEPT_BASES) bases.delete(bases.keys().next().value!);
  };
  const reportOf = async (line: string, depth = 0): Promise<ReadReport | undefined> => {
    const found = decodeLine(line);
    if (found.kind === "report") return { text: found.text, depth: 0 };
    if (found.kind !== "difference" || depth > MOST_DEPTH) return undefined;
    const on = await baseAt(found.on, depth + 1);
    const text = on && decodeDifference(found.packed, on.text);
    return text === undefined ? undefined : { text, depth: on!.depth + 1 };
  };
  const baseAt = async (place: LinePlace, depth: number): Promise<ReadReport | undefined> => {
    const known = bases.get(place.start);
    if (known !== undefined) return known;
    const report = await reportOf((await lineAt(place)) ?? "", depth);
    keep(place.start, report);
    return report;
  };
  return {
    async read(line, start) {
      const report = await reportOf(line);
      keep(start, report);
      if (report !== undefined || line === "") return report?.text;
      // Damage before it moved what it is a difference to, or took it.
      mended ??= all().then(readAround);
      return (await mended).get(start);
    },
  };
}

/** Bases that are tried where the one that a line names is not there. */
const MOST_TRIED = 64;

/**
 * Pure. Every report of a whole file's text by where its line stands. Where the base of a line is
 * not where the line says, because a line before it is longer or shorter than it was or cannot be
 * read, the reports around it are tried: the sum of what it says tells the right one.
 */
function readAround(text: string): ReadonlyMap<number, string> {
  const lines = placedLines(text).map(({ line, start }) => ({ start, found: decodeLine(line) }));
  /** By their sums, and by where their lines stood. */
  const copies = new Map<number, string>();
  const stood = new Map<number, string>();
  for (const { found } of lines) {
    const copy = found.kind === "difference" ? copyIn(found) : undefined;
    if (found.kind !== "difference" || copy === undefined) continue;
    copies.set(crc32(copy), copy);
    stood.set(found.on.start, copy);
  }
  const reports = new Map<number, string>();
  /** The likeliest first. */
  let tried = [...copies.values()];
  const mend = (packed: Packed): string | undefined => {
    if (packed.sum === undefined) return undefined;
    const copy = copies.get(packed.sum);
    if (copy !== undefined) return copy;
    for (const base of tried) {
      const report = decodeDifference(packed, base);
      if (report === undefined) continue;
      tried = [base, ...tried.filter((each) => each !== base)];
      return report;
    }
    return undefined;
  };
  for (const { start, found } of lines) {
    const report =
      found.kind === "report"
        ? found.text
        : found.kind === "difference"
          ? (decodeDifference(found.packed, reports.get(found.on.start) ?? "") ??
            mend(found.packed))
          : found.kind === "unreadable"
            ? stood.get(start)
            : undefined;
    if (report === undefined) continue;
    reports.set(start, report);
    if (mayBeBase(report)) tried = [report, ...tried].slice(0, MOST_TRIED);
  }
  return reports;
}

/** Another line's report, which this one brings along; undefined: none that can be read. */
function copyIn({ copy }: { copy: string | undefined }): string | undefined {
  try {
    return copy === undefined ? undefined : inflate({ z: copy }, USUAL);
  } catch {
    return undefined;
  }
}

function placedLines(text: string): { line: string; start: number }[] {
  let end = 0;
  return text.split("\n").map((line) => {
    const start = end;
    end += Buffer.byteLength(line) + 1;
    return { line, start };
  });
}

/** Pure. A whole file's text with every report as it is; lines that nobody can read stay. */
export function plainLines(text: string): string {
  const reports = readAround(text);
  return placedLines(text)
    .map(({ line, start }) => reports.get(start) ?? line)
    .join("\n");
}

/** Pure. Hashes of the parts that reports of a whole file name, among other words. */
export const namesOfParts = (text: string): string[] =>
  [...plainLines(text).matchAll(/[\w-]{16,}/g)].map(([name]) => name);

/** Lines written as a difference to the same one, of which there are copies. */
const LINES_PER_BASE = 128;
/**
 * Which of them bring a copy: one at once, so that no line costs more than its own, and others
 * farther off, for where it is lost together with its neighbours.
 */
const COPIED_BY: readonly number[] = [1, 9, 40, 90];

/** Writes the reports of one file, each as a difference to an earlier one. */
export interface LineWriter {
  /** The next line, with its end. */
  lineOf(report: string, partBytes?: number): string;
  /** What stands between them as it is. */
  pass(line: string): void;
  /** Of the file so far. */
  readonly bytes: number;
}

/** `bytes`: what stands in the file already, to which no line is written as a difference. */
export function createLineWriter(bytes = 0): LineWriter {
  let at = bytes;
  /** `depth` 0: it is no difference itself. */
  let known: (BaseLine & { uses: number; depth: 0 | 1 }) | undefined;
  return {
    get bytes() {
      return at;
    },
    pass(line) {
      at += Buffer.byteLength(line);
    },
    lineOf(report, partBytes) {
      const base = (known?.uses ?? 0) < LINES_PER_BASE ? known : undefined;
      const bringsBase = base !== undefined && COPIED_BY.includes(base.uses);
      const line = encodeLine(report, base, { partBytes, bringsBase });
      const place = { start: at, length: line.length };
      at += line.length + 1;
      if (base !== undefined) base.uses++;
      // A session's first report is like no other: the second is what the others are most like.
      if ((base === undefined || base.depth === 0) && mayBeBase(report))
        known = {
          ...place,
          text: report,
          uses: base?.uses ?? 0,
          depth: base === undefined ? 0 : 1,
        };
      else if (base === undefined) known = undefined;
      return `${line}\n`;
    },
  };
}

/** Pure. A whole file's text whose reports stand as they are, packed; other lines stay. */
export function packedLines(text: string): string {
  const writer = createLineWriter();
  const lines = text.split("\n");
  return lines
    .map((line, index) => {
      const end = index === lines.length - 1 ? "" : "\n";
      if (decodeLine(line).kind === "report" && end !== "") return writer.lineOf(line);
      writer.pass(line + end);
      return line + end;
    })
    .join("");
}
