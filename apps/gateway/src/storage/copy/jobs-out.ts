// Copies the jobs of a database into a home, beside those that are there.
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { FoundFile } from "@clew/store-postgres";
import { type Job, type JobRun, type JobState, NEW_STATE } from "../../cron/job.ts";
import { writeOwn } from "../../home/own-writes.ts";
import { isSafeId } from "../../sessions/keys.ts";
import { parsedJob, runsIn, stateOf } from "../postgres/job-rows.ts";
import {
  formatJobFile,
  formatRuns,
  isJobPlace,
  JOB_FILES,
  type JobFile,
  type JobTexts,
  jobFileToKeep,
  jobOf,
  jobPlace,
  MOST_RUNS,
  mergeStates,
  newRuns,
  planJobCopy,
  readJobTexts,
  runsOfText,
  stateOfText,
} from "./job-texts.ts";
import type { CopyOut, CopyResult } from "./result.ts";
import { keptText } from "./waiting.ts";

export async function copyJobsOut(request: CopyOut, result: CopyResult): Promise<void> {
  const { home, homeId, copy, signal } = request;
  const files = (await copy.files()).filter(({ place }) => isJobPlace(place));
  const rows = new Map((await copy.jobs.list()).jobs.map((row) => [row.id, row.body]));
  const own = files.filter((file) => file.home === homeId);
  const ids = new Set([...rows.keys(), ...own.flatMap(({ place }) => idOf(place) ?? [])]);
  for (const id of [...ids].sort()) {
    signal.throwIfAborted();
    if (!isSafeId(id)) {
      result.left.push({ what: `job ${id}`, why: "its id is no name of a file" });
      continue;
    }
    const kept = await keptTexts(request, id, own);
    const other = await keptTexts(request, id, files);
    const texts = await readJobTexts(home, id);
    await copyJob(request, { id, row: rows.get(id), texts, kept, other }, result);
  }
}

const idOf = (place: string): string | undefined => /^cron\/(.+)\.job\.json$/.exec(place)?.[1];

/** As they were copied, from this home rather than from another one. */
async function keptTexts(
  { copy, homeId }: CopyOut,
  id: string,
  files: readonly FoundFile[],
): Promise<JobTexts> {
  const read = async (file: JobFile) => {
    const found = files.filter(({ place }) => place === jobPlace(id, file));
    const one = found.find((each) => each.home === homeId) ?? found[0];
    return one === undefined ? null : keptText(copy, one);
  };
  return { job: await read("job"), state: await read("state"), runs: await read("runs") };
}

interface GivenJob {
  id: string;
  /** As the database has it. */
  row: string | undefined;
  /** As the home has it. */
  texts: JobTexts;
  /** As this home had it when it was copied. */
  kept: JobTexts;
  /** The same, or as another home had it. */
  other: JobTexts;
}

async function copyJob(request: CopyOut, given: GivenJob, result: CopyResult): Promise<void> {
  const { id, row, texts, kept } = given;
  const source = row === undefined ? undefined : parsedJob(row);
  const target = jobOf(texts.job);
  const isUnreadable =
    (row !== undefined && source === undefined) || (texts.job !== null && target === undefined);
  const plan = isUnreadable
    ? "torn"
    : planJobCopy({ source, target, copied: jobOf(kept.job), isRestored: true });
  if (plan === "torn") {
    const why = "a job of this name is another one in files, and neither is written over";
    return void result.left.push({ what: `job ${id}`, why });
  }
  if (source === undefined) {
    if (plan === "deleted") await removeJob(request, id, result);
    if (plan === "ahead")
      result.left.push({
        what: `job ${id}`,
        why: "it was removed in the database, and changed in files; remove it there, too, or keep it",
      });
    return;
  }
  if (plan === "ahead") result.ahead.push(`job ${id}`);
  await place(request, { ...given, source, job: plan === "take" ? source : target! }, result);
}

async function removeJob(
  { home, isCheck }: CopyOut,
  id: string,
  { deleted }: CopyResult,
): Promise<void> {
  deleted.push(`job ${id}`);
  if (isCheck) return;
  for (const file of JOB_FILES) await rm(join(home, jobPlace(id, file)), { force: true });
}

/** What is there already stays byte for byte where it says the same. */
async function place(
  { home, homeId, copy, isCheck }: CopyOut,
  { id, texts, other, source, job }: GivenJob & { source: Job; job: Job },
  result: CopyResult,
): Promise<void> {
  const progress = await copy.jobs.progress(id);
  const runs = (await runsIn(copy.jobs, id, MOST_RUNS)).toReversed();
  const wanted: JobTexts = {
    job: textOfJob(job, [texts.job, other.job]),
    state: textOfState(stateOf(progress), texts, other),
    runs: textOfRuns(runs, texts.runs ?? other.runs),
  };
  for (const file of JOB_FILES) {
    const text = wanted[file];
    if (text === null || text === texts[file]) continue;
    result.files += 1;
    if (isCheck) continue;
    const path = join(home, ...jobPlace(id, file).split("/"));
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeOwn(path, text);
    await copy.keep(homeId, jobFileToKeep(id, file, text, source));
  }
}

/** Pure. The first text that says it, else another one. */
const textOfJob = (job: Job, texts: readonly (string | null)[]): string =>
  texts.find((text) => isDeepStrictEqual(jobOf(text), job)) ?? formatJobFile(job);

/** Pure. */
function textOfState(database: JobState, texts: JobTexts, other: JobTexts): string | null {
  const own = stateOfText(texts.state);
  const merged = mergeStates(own, database);
  const isSaidBy = (text: string | null) =>
    text !== null && isDeepStrictEqual(withoutRun(stateOfText(text)), withoutRun(merged));
  if (isSaidBy(texts.state)) return texts.state;
  if (texts.state === null && isSaidBy(other.state)) return other.state;
  return isDeepStrictEqual(merged, NEW_STATE) ? null : formatJobFile(merged);
}

const withoutRun = ({ run: _run, ...state }: JobState) => state;

/** Pure. */
function textOfRuns(runs: readonly JobRun[], text: string | null): string | null {
  const fresh = newRuns(runs, runsOfText(text));
  return fresh.length === 0 ? text : `${text ?? ""}${formatRuns(fresh)}`;
}
