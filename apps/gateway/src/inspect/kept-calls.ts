// Keeps beside a session what its reports were folded into, while both fit together.
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { ReportItem, WithheldEntry } from "@clew/engine-core";
import { inSlices } from "@clew/plugin-sdk/host";
import type { Prices } from "../costs/prices.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import type { ReportPlace, ReportsEnd } from "../reports/read-reports.ts";
import { reportFiles } from "../reports/report-files.ts";
import type { FileStart } from "../reports/report-lines.ts";
import { crcOfPart } from "../sessions/file-lines.ts";
import { VERSION } from "../version.ts";
import type { PricesOf } from "./cost.ts";
import type { FoldState } from "./fold-calls.ts";
import type { CallRow } from "./shapes/calls.ts";
import type { ShownSummaries } from "./shown-summaries.ts";

/** How far calls were folded, and what the next one, which lists all its messages, goes on from. */
export interface FoldedUntil {
  /** Reports are read on from here. */
  end: ReportsEnd;
  /** So many calls of the report behind it were folded. */
  begun: number;
  /** Where the report behind it ends, bytes. */
  nextEnd: number;
  /** What came before the oldest report that was kept. */
  before: FileStart;
  /** Where the branch of the last call ended, and how many entries it had. */
  leafId: string | null;
  entries: number;
  withheld: readonly (WithheldEntry & { at: number })[];
  shown: ShownSummaries["all"];
  fold: FoldState;
  /** Turns whose reports cannot be read, and those that have none, ascending. */
  unreadable: readonly number[];
  gone: readonly number[];
  /** What the next calls are a difference to has not been found again behind such a turn. */
  isBroken: boolean;
  /** All messages of calls of which it was found again, by the call's id. */
  bridged: readonly (readonly [id: string, messages: readonly ReportItem[]])[];
}

/** A report that was folded. */
export interface FoldedReport extends ReportPlace {
  /** Place among all reports of the one that holds the full list before its first call. */
  full: number;
  rows: readonly CallRow[];
}

export interface FoldedCalls {
  until: FoldedUntil;
  /** The last is the one that is begun, if one is. */
  reports: readonly FoldedReport[];
}

/** Of one session. Nothing is told of what cannot be read or written: it can be made again. */
export interface CallsKeeper {
  /** Before files are read: what takes the place of one from now on is another one. */
  note(): Promise<void>;
  /** Undefined: there is none, or it is not of what the files and prices say now. */
  read(): Promise<FoldedCalls | undefined>;
  /** Nothing is kept where a file that was read is not there any more. */
  write(folded: FoldedCalls): Promise<void>;
}

/** Where it is kept. */
export const keptCallsFile = (sessionFile: string): string => `${sessionFile}.calls`;

/** What rows were made from. */
interface MadeFrom {
  /** By which release. */
  version: string;
  reports: { from: number; to: number; crc: number };
  transcript: { bytes: number; crc: number };
  prices: Record<string, Prices | null>;
}

/** The first line; each report has one behind it. */
interface Head {
  v: 4;
  of: MadeFrom;
  until: FoldedUntil;
  reports: number;
}

interface Kept {
  /** An agent's reports folder. */
  folder: string;
  sessionId: string;
  /** The transcript. */
  file: string;
  pricesOf: PricesOf;
}

/** More is none of ours. */
const MOST_BYTES = 2 ** 30;
const [pack, unpack] = [promisify(gzip), promisify(gunzip)];

export function createCallsKeeper(kept: Kept): CallsKeeper {
  const { file } = kept;
  const seen = new Set<string>();
  const filesNow = async () => {
    const reports = await reportFiles(kept.folder, kept.sessionId);
    return Promise.all([file, ...reports.map((each) => each.file)].map(identityOf));
  };
  return {
    async note() {
      for (const each of await filesNow()) seen.add(each);
    },
    async read() {
      const folded = await readKept(keptCallsFile(file)).catch(() => undefined);
      if (folded === undefined) return undefined;
      const now = await madeFrom(kept, folded).catch(() => undefined);
      return toJson(now) === toJson(folded.of) ? folded : undefined;
    },
    async write(folded) {
      try {
        const of = await madeFrom(kept, folded);
        const now = new Set(await filesNow());
        if (of === undefined || [...seen].some((each) => !now.has(each))) return;
        const lines = [toJson({ v: 4, of, until: folded.until, reports: folded.reports.length })];
        await inSlices(folded.reports, (report) => {
          lines.push(toJson(report));
        });
        const packed = await pack(lines.join("\n"), { level: 1 });
        await writeOwn(keptCallsFile(file), packed, { fsync: false });
      } catch {
        // It is made again by whoever looks next.
      }
    },
  };
}

/** Throws where it is not as it was written. */
async function readKept(file: string): Promise<(FoldedCalls & { of: MadeFrom }) | undefined> {
  const bytes = await unpack(await readFile(file), { maxOutputLength: MOST_BYTES });
  const lines = linesOf(bytes);
  const { value: first } = lines.next();
  const head = fromJson(String(first)) as Head;
  if (head.v !== 4 || head.of.version !== VERSION) return undefined;
  const reports: FoldedReport[] = [];
  await inSlices(lines, (line) => {
    reports.push(fromJson(line.toString("utf8")) as FoldedReport);
  });
  return reports.length === head.reports ? { of: head.of, until: head.until, reports } : undefined;
}

function* linesOf(bytes: Buffer): Generator<Buffer, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(10, start);
    const end = feed < 0 ? bytes.length : feed;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** As the files and prices are now. Undefined: they hold less. */
async function madeFrom(
  { folder, sessionId, file, pricesOf }: Kept,
  { until, reports, of }: FoldedCalls & { of?: MadeFrom },
): Promise<MadeFrom | undefined> {
  const span = { from: until.before.bytes, to: until.nextEnd };
  const crc = await crcOfReports(folder, sessionId, span);
  const { size } = await stat(file);
  const bytes = of?.transcript.bytes ?? size;
  if (crc === undefined || bytes > size) return undefined;
  const models = new Set(reports.flatMap(({ rows }) => rows.map(({ model }) => model)));
  return {
    version: VERSION,
    reports: { ...span, crc },
    transcript: { bytes, crc: await crcOfPart(file, 0, bytes) },
    prices: Object.fromEntries([...models].sort().map((model) => [model, pricesOf(model)])),
  };
}

async function crcOfReports(
  folder: string,
  sessionId: string,
  { from, to }: { from: number; to: number },
): Promise<number | undefined> {
  const files = await reportFiles(folder, sessionId);
  const [first, last] = [files[0], files.at(-1)];
  if (first === undefined || first.after.bytes !== from) return undefined;
  if (last!.after.bytes + last!.bytes < to) return undefined;
  let crc = 0;
  for (const { file, after, bytes } of files)
    crc = await crcOfPart(file, 0, Math.min(bytes, to - after.bytes), crc);
  return crc;
}

async function identityOf(file: string): Promise<string> {
  const found = await stat(file);
  return `${found.dev}:${found.ino}`;
}
