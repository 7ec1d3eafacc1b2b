// Keeps jobs, how far they are, and how their runs went, in files of the home.
import { access, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeOwnFolder } from "../home/no-links.ts";
import { appendOwn, writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { JobRunSchema, JobSchema, JobStateSchema, NEW_STATE } from "./job.ts";
import type { JobStore } from "./job-store.ts";

export function createJobFiles(home: string): JobStore {
  const folder = join(home, "cron");
  const jobFile = (id: string) => join(folder, `${id}.job.json`);
  const stateFile = (id: string) => join(folder, `${id}.state.json`);
  const runsFile = (id: string) => join(folder, `${id}.runs.jsonl`);
  const make = () => makeOwnFolder(home, folder);
  const put = async (file: string, value: unknown) => {
    await make();
    await writeOwn(file, `${toJson(value, null, 2)}\n`);
  };
  const isThere = (id: string) =>
    access(jobFile(id)).then(
      () => true,
      unlessMissing(() => false),
    );
  return {
    async jobs(onUnreadable) {
      const names = await readdir(folder).catch(unlessMissing((): string[] => []));
      const files = names.filter((name) => name.endsWith(".job.json"));
      const found = await Promise.all(
        files.map(async (name) => {
          const file = join(folder, name);
          const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) =>
            error.code === "ENOENT" ? undefined : "",
          );
          if (text === undefined) return undefined;
          const job = JobSchema.safeParse(parsed(text));
          if (!job.success) onUnreadable?.(file);
          return job.data;
        }),
      );
      return found
        .filter((job) => job !== undefined)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },
    isThere,
    write: (job) => put(jobFile(job.id), job),
    async remove(id) {
      const wasThere = await isThere(id);
      for (const file of [jobFile(id), stateFile(id), runsFile(id)])
        await rm(file, { force: true });
      return wasThere;
    },
    async state(id) {
      const text = await readFile(stateFile(id), "utf8").catch(unlessMissing(() => "null"));
      return JobStateSchema.safeParse(parsed(text)).data ?? NEW_STATE;
    },
    writeState: (id, state) => put(stateFile(id), state),
    async appendRun(id, run) {
      await make();
      // A line that a killed process left half written ends here.
      await appendOwn(runsFile(id), `\n${toJson(run)}`);
    },
    async runs(id, limit) {
      const text = await readFile(runsFile(id), "utf8").catch(() => "");
      return text
        .split("\n")
        .map((line) => JobRunSchema.safeParse(parsed(line)).data)
        .filter((run) => run !== undefined)
        .slice(-limit)
        .reverse();
    },
  };
}

const unlessMissing =
  <Result>(missing: () => Result) =>
  (error: NodeJS.ErrnoException): Result => {
    if (error.code !== "ENOENT") throw error;
    return missing();
  };

function parsed(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
