// Copies the jobs of a home into a database, with how far they are and how their runs went.
import { isDeepStrictEqual } from "node:util";
import type { FoundFile } from "@clew/store-postgres";
import type { Job } from "../../cron/job.ts";
import { toJson } from "../../own-json.ts";
import { parsedJob, progressOf, runsIn, stateOf } from "../postgres/job-rows.ts";
import {
  isJobPlace,
  JOB_FILES,
  type JobTexts,
  jobFileToKeep,
  jobIdsIn,
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
import type { CopyIn, CopyResult } from "./result.ts";
import { keptText, shaOfText } from "./waiting.ts";

/** Repeated, it takes what is new; what a person changed in the database meanwhile stays. */
export async function copyJobsIn(request: CopyIn, result: CopyResult): Promise<void> {
  const { home, homeId, copy, signal } = request;
  const files = (await copy.files()).filter(
    (file) => file.home === homeId && isJobPlace(file.place),
  );
  const kept = new Map(files.map((file) => [file.place, file]));
  const rows = new Map((await copy.jobs.list()).jobs.map((row) => [row.id, row.body]));
  for (const id of await jobIdsIn(home)) {
    signal.throwIfAborted();
    const texts = await readJobTexts(home, id);
    const source = jobOf(texts.job);
    if (source === undefined) {
      const why = "it holds no job that this version of the gateway knows";
      result.left.push({ what: jobPlace(id, "job"), why });
      continue;
    }
    await copyJob(request, { id, source, texts, row: rows.get(id), kept }, result);
  }
}

interface GivenJob {
  id: string;
  source: Job;
  texts: JobTexts;
  /** As the database has it. */
  row: string | undefined;
  /** Files of this home that were copied before, by place. */
  kept: ReadonlyMap<string, FoundFile>;
}

async function copyJob(
  request: CopyIn,
  { id, source, texts, row, kept }: GivenJob,
  result: CopyResult,
): Promise<void> {
  const { homeId, copy, isCheck } = request;
  const before = kept.get(jobPlace(id, "job"));
  const copied = before && jobOf(await keptText(copy, before));
  const target = row === undefined ? undefined : parsedJob(row);
  const plan =
    row !== undefined && target === undefined ? "torn" : planJobCopy({ source, target, copied });
  if (plan === "deleted") return void result.deleted.push(`job ${id}`);
  if (plan === "torn") {
    const why = "a job of this name is another one in the database, and neither is written over";
    result.left.push({ what: `job ${id}`, why });
    return;
  }
  const isTaken = plan === "take";
  if (isTaken && !isCheck)
    await copy.jobs.put({ id, createdAt: source.createdAt, body: toJson(source) });
  const isFurther = await copyProgress(request, { id, texts });
  // The files are kept as they are, so that they come back byte for byte.
  const changed = JOB_FILES.filter((file) => {
    const text = texts[file];
    return text !== null && kept.get(jobPlace(id, file))?.sha !== shaOfText(text);
  });
  result.files += isTaken || isFurther ? Math.max(1, changed.length) : changed.length;
  if (plan === "ahead") result.ahead.push(`job ${id}`);
  if (!isCheck)
    for (const file of changed)
      await copy.keep(homeId, jobFileToKeep(id, file, texts[file]!, source));
}

/** True: the home had more of it. */
async function copyProgress(
  { copy: { jobs }, isCheck }: CopyIn,
  { id, texts }: Pick<GivenJob, "id" | "texts">,
): Promise<boolean> {
  const known = await runsIn(jobs, id, MOST_RUNS);
  const fresh = newRuns(runsOfText(texts.runs), known);
  const progress = await jobs.progress(id);
  const own = stateOf(progress);
  const merged = mergeStates(own, stateOfText(texts.state));
  const isMore = !isDeepStrictEqual(progressOf(merged), progressOf(own));
  if (!isCheck && fresh.length > 0)
    await jobs.addRuns(
      id,
      fresh.map((run) => ({ due: run.due, startedAt: run.startedAt, body: toJson(run) })),
    );
  // A gateway that went on meanwhile is further, and the next copy finds it so.
  if (!isCheck && isMore) await jobs.advance(id, progress, progressOf(merged));
  return isMore || fresh.length > 0;
}
