// Reads what a home says of a job, and decides what a copy makes of both sides.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { FileToKeep } from "@clew/store-postgres";
import {
  type Job,
  type JobRun,
  JobRunSchema,
  type JobState,
  JobStateSchema,
  NEW_STATE,
} from "../../cron/job.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { isSafeId, parseSessionName } from "../../sessions/keys.ts";
import { parsedJob } from "../postgres/job-rows.ts";
import { shaOfText } from "./waiting.ts";

/** More than any job has. */
export const MOST_RUNS = 1_000_000;

/** Files of a job as they are; null: there is none. */
export interface JobTexts {
  job: string | null;
  state: string | null;
  runs: string | null;
}

export type JobFile = keyof JobTexts;

export const JOB_FILES: readonly JobFile[] = ["job", "state", "runs"];

const NAMES = { job: ".job.json", state: ".state.json", runs: ".runs.jsonl" } as const;

export const jobPlace = (id: string, file: JobFile): string => `cron/${id}${NAMES[file]}`;

export const isJobPlace = (place: string): boolean =>
  /^cron\/[^/]+\.(?:job\.json|state\.json|runs\.jsonl)$/.test(place);

/** Ids of the jobs that a home names, sorted, also of such that cannot be read. */
export async function jobIdsIn(home: string): Promise<string[]> {
  const names = await readdir(join(home, "cron")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names
    .flatMap((name) => (name.endsWith(NAMES.job) ? name.slice(0, -NAMES.job.length) : []))
    .filter(isSafeId)
    .sort();
}

export async function readJobTexts(home: string, id: string): Promise<JobTexts> {
  const read = (file: JobFile) =>
    readFile(join(home, ...jobPlace(id, file).split("/")), "utf8").catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      },
    );
  return { job: await read("job"), state: await read("state"), runs: await read("runs") };
}

export const jobOf = (text: string | null): Job | undefined =>
  text === null ? undefined : parsedJob(text);

/** Of no file, or of one that cannot be read, nothing is known. */
export function stateOfText(text: string | null): JobState {
  return JobStateSchema.safeParse(parsed(text ?? "")).data ?? NEW_STATE;
}

/** In the order of the file; what is half written is left out. */
export const runsOfText = (text: string | null): JobRun[] =>
  (text ?? "").split("\n").flatMap((line) => JobRunSchema.safeParse(parsed(line)).data ?? []);

/** What becomes of a job that one side has otherwise than the other. */
export type JobPlan =
  | "same"
  /** As the source has it. */
  | "take"
  /** The target went on, and keeps its own. */
  | "ahead"
  /** It was deleted at the target, or at the source. */
  | "deleted"
  /** Both changed it. */
  | "torn";

/**
 * Pure. `copied`: as both had it when it was copied last; undefined: it never was. `isRestored`:
 * a target without it gets it in any case.
 */
export function planJobCopy({
  source,
  target,
  copied,
  isRestored = false,
}: {
  source: Job | undefined;
  target: Job | undefined;
  copied: Job | undefined;
  isRestored?: boolean;
}): JobPlan {
  const isCopied = (job: Job | undefined) => copied !== undefined && isDeepStrictEqual(job, copied);
  if (isDeepStrictEqual(source, target)) return "same";
  if (target === undefined) return copied === undefined || isRestored ? "take" : "deleted";
  if (source === undefined) return isCopied(target) ? "deleted" : "ahead";
  if (isCopied(target)) return "take";
  return isCopied(source) ? "ahead" : "torn";
}

/** Pure. No moment is run twice by who goes on from there; what runs goes on where it runs. */
export function mergeStates(own: JobState, other: JobState): JobState {
  const ahead = Math.max(own.aheadUntil ?? 0, other.aheadUntil ?? 0);
  return {
    v: 1,
    settledUntil: Math.max(own.settledUntil, other.settledUntil),
    ...(ahead > 0 && { aheadUntil: ahead }),
    askedUntil: Math.max(own.askedUntil, other.askedUntil),
    run: own.run,
  };
}

/** Pure. Those of `more` that are not among `known`. */
export function newRuns(more: readonly JobRun[], known: readonly JobRun[]): JobRun[] {
  const keys = new Set(known.map(keyOf));
  return more.filter((run) => !keys.has(keyOf(run)));
}

const keyOf = ({ due, startedAt }: JobRun): string => `${due} ${startedAt}`;

export const formatJobFile = (value: Job | JobState): string => `${toJson(value, null, 2)}\n`;

export const formatRuns = (runs: readonly JobRun[]): string =>
  runs.map((run) => `\n${toJson(run)}`).join("");

/** To be kept in the database as it is. */
export function jobFileToKeep(id: string, file: JobFile, text: string, job: Job): FileToKeep {
  const bytes = Buffer.from(text);
  return {
    ...{ place: jobPlace(id, file), agentId: parseSessionName(job.session)?.agentId ?? "main" },
    ...{ sessionId: null, kind: "file", isOwn: false, head: null, size: bytes.length },
    ...{ sha: shaOfText(text), changedAt: Date.now(), bytes: () => [bytes] },
  };
}

function parsed(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
