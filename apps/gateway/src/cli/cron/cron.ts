// Runs the `clew cron` commands.
import { randomBytes } from "node:crypto";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { agentIds, defaultAgentId } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import type { Job, JobRun } from "../../cron/job.ts";
import { createJobFiles, type JobFiles } from "../../cron/job-files.ts";
import { planClockMend, planJob } from "../../cron/plan-job.ts";
import { dueAfter, parseSchedule, whyNoTimeZone } from "../../cron/schedule.ts";
import { findOwnGateway } from "../../gateway-client.ts";
import { isSafeId, type SessionName, shortName } from "../../sessions/keys.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { createSessionStore } from "../../sessions/store.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { nearestName } from "../../text/nearest.ts";

interface Asked {
  json?: boolean;
}

interface AddOptions extends Asked {
  schedule: string;
  message: string;
  session?: string;
  id?: string;
  timeZone?: string;
  maxLate?: string;
  heartbeat?: boolean;
}

const DAY_MINUTES = 1440;

/** Throws REQUEST_INVALID and SESSION_NAME_INVALID. */
export async function cronAdd(options: AddOptions, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const { config } = await loadConfig(environment.configFile);
  const files = createJobFiles(environment.home);
  const now = Date.now();
  const timeZone = options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const parsed = parseSchedule(options.schedule, timeZone);
  if (!parsed.ok) throw invalid(`The job was not added: ${parsed.reason}.`);
  // Also where the schedule has no use for it.
  const noTimeZone = whyNoTimeZone(timeZone);
  if (noTimeZone !== undefined) throw invalid(`The job was not added: ${noTimeZone}.`);
  const next = dueAfter(parsed.schedule, now, now);
  if (next === null)
    throw invalid(`The job was not added: "${options.schedule}" is never due from now on.`);
  if (options.message.trim() === "") throw invalid("The job was not added: its message is blank.");
  const maxLateMinutes = Number(options.maxLate ?? DAY_MINUTES);
  if (!(maxLateMinutes > 0))
    throw invalid(`The job was not added: --max-late "${options.maxLate}" is no number above 0.`);
  const id = options.id ?? `job-${randomBytes(3).toString("hex")}`;
  if (!isSafeId(id))
    throw invalid(
      `The job was not added: "${id}" is no id; use letters, digits, dots, dashes or underscores.`,
    );
  if ((await files.jobs()).some((job) => job.id === id))
    throw invalid(
      `The job was not added: there is a job "${id}"; "clew cron rm ${id}" removes it.`,
    );
  const session = requireSessionName(options.session ?? `cron:${id}`, defaultAgentId(config));
  await requireAgent(session, agentIds(config), environment.home);
  const job: Job = {
    ...{ v: 1, id, session: session.key, message: options.message },
    ...{ schedule: options.schedule.trim(), timeZone, maxLateMinutes },
    ...{ kind: options.heartbeat === true ? "heartbeat" : "cron", enabled: true },
    ...{ createdAt: now, enabledAt: now, askedAt: 0 },
  };
  await files.write(job);
  if (options.json === true) output.json({ job: { ...job, next } });
  else {
    output.line(
      `Job ${id} runs next at ${momentText(next)}, in session ${printable(shortName(job.session))}.`,
    );
    if (!(await hasGateway(shell)))
      output.note('clew: no gateway of this home runs now; jobs run once "clew start" does.');
  }
  return EXIT.done;
}

/** A job in a session that is there goes on, whoever its agent is. */
async function requireAgent(
  { agentId, name, key }: SessionName,
  known: readonly string[],
  home: string,
): Promise<void> {
  if (known.includes(agentId) || (await createSessionStore({ home }).find(key)) !== null) return;
  throw invalid(
    `The job was not added: there is no agent "${agentId}" in agents.list, only ${known.join(", ")}; add it there, or name a session of another one, such as --session agent:${nearestName(agentId, known) ?? known[0]}:${name}.`,
  );
}

/** False: nobody runs jobs now. */
async function hasGateway({ environment }: Pick<Shell, "environment">): Promise<boolean> {
  const { config } = await loadConfig(environment.configFile);
  const { kind } = await findOwnGateway({ home: environment.home, port: config.gateway.port });
  return kind !== "none" && kind !== "stranger";
}

export async function cronList({ json = false }: Asked, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const files = createJobFiles(environment.home);
  const unreadable: string[] = [];
  const jobs = await files.jobs((file) => unreadable.push(file));
  const found = await Promise.all(jobs.map((job) => describeJob(files, job, Date.now())));
  const isRunning = found.some(({ status }) => status === "running");
  const isKilled = isRunning && !(await hasGateway(shell));
  const listed = found.map((job) =>
    isKilled && job.status === "running" ? { ...job, status: "interrupted" as const } : job,
  );
  if (json) output.json({ jobs: listed, unreadable });
  else if (jobs.length === 0) output.line('No jobs yet; "clew cron add --help" shows how.');
  else
    output.line(
      formatTable(
        ["job", "schedule", "session", "next", "last run"],
        listed.map(({ id, schedule, timeZone, session, next, status, last }) => [
          printable(id),
          printable(goesByClock(schedule, timeZone) ? `${schedule} (${timeZone})` : schedule),
          printable(shortName(session)),
          next === null ? status : momentText(next),
          last === null ? "–" : `${momentText(last.startedAt)} ${last.outcome}`,
        ]),
      ),
    );
  for (const file of unreadable) output.note(`clew: ${file} holds no job and is passed over.`);
  return unreadable.length === 0 ? EXIT.done : EXIT.failed;
}

function goesByClock(schedule: string, timeZone: string): boolean {
  const parsed = parseSchedule(schedule, timeZone);
  return parsed.ok && parsed.schedule.kind === "cron";
}

/** A job with what its state says. */
interface ListedJob extends Job {
  /** ms since the epoch; null: see `status`. */
  next: number | null;
  status: "due" | "running" | "interrupted" | "paused" | "over" | "unreadable schedule";
  last: JobRun | null;
}

async function describeJob(files: JobFiles, job: Job, now: number): Promise<ListedJob> {
  const known = await files.state(job.id);
  // As a gateway that looks at it will.
  const state = planClockMend(job, known, now) ?? known;
  const [last = null] = await files.runs(job.id, 1);
  const step = planJob(job, state, now);
  const isReadable = parseSchedule(job.schedule, job.timeZone).ok;
  if (step.kind === "wait")
    return { ...job, last, next: step.until, status: step.until === null ? "over" : "due" };
  if (step.kind !== "nothing") return { ...job, last, next: step.due, status: "due" };
  const status = state.run !== null ? "running" : isReadable ? "paused" : "unreadable schedule";
  return { ...job, last, next: null, status };
}

export async function cronHistory(
  id: string,
  { json = false, limit = "20" }: Asked & { limit?: string },
  { environment, output }: Shell,
): Promise<number> {
  const files = createJobFiles(environment.home);
  const job = await requireJob(files, id);
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1)
    throw invalid(`--limit "${limit}" is no whole number above 0.`);
  const runs = await files.runs(job.id, most);
  if (json) output.json({ job: job.id, runs });
  else if (runs.length === 0) output.line(`Job ${id} has not run yet.`);
  for (const { due, startedAt, endedAt, outcome, reason, missed, answer } of json ? [] : runs) {
    const late = startedAt - due > 60_000 ? `, due ${momentText(due)}` : "";
    const before = missed === 0 ? "" : `, ${missed} before it missed`;
    output.line(
      `${momentText(startedAt)} ${outcome} (${Math.round((endedAt - startedAt) / 100) / 10} s${late}${before})${reason === undefined ? "" : `: ${printable(reason)}`}`,
    );
    if (answer !== undefined) output.line(`  ${printable(answer).replaceAll("\n", "\n  ")}`);
  }
  return EXIT.done;
}

export async function cronRun(id: string, { json = false }: Asked, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const files = createJobFiles(environment.home);
  const job = await requireJob(files, id);
  // A clock that was ahead may have asked before.
  const { askedUntil } = await files.state(id);
  const askedAt = Math.max(Date.now(), job.askedAt + 1, askedUntil + 1);
  await files.write({ ...job, askedAt });
  const waitsForGateway = !(await hasGateway(shell));
  const when = waitsForGateway
    ? 'once "clew start" does, as no gateway of this home runs now'
    : "within seconds";
  if (json) output.json({ job: id, askedAt, waitsForGateway });
  else output.line(`Job ${id} runs ${when}; "clew cron history ${id}" tells how it went.`);
  return EXIT.done;
}

export async function cronEnable(
  id: string,
  { enabled, json = false }: Asked & { enabled: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const files = createJobFiles(environment.home);
  const job = await requireJob(files, id);
  const isNew = enabled && !job.enabled;
  const changed = { ...job, enabled, ...(isNew && { enabledAt: Date.now() }) };
  await files.write(changed);
  const { next } = await describeJob(files, changed, Date.now());
  if (json) output.json({ job: changed, next });
  else if (!enabled) output.line(`Job ${id} is paused; "clew cron resume ${id}" goes on.`);
  else output.line(`Job ${id} runs next at ${next === null ? "no time" : momentText(next)}.`);
  return EXIT.done;
}

export async function cronRemove(
  id: string,
  { json = false }: Asked,
  shell: Shell,
): Promise<number> {
  const { environment, output } = shell;
  const files = createJobFiles(environment.home);
  const { session } = await requireJob(files, id);
  const goesOn = (await files.state(id)).run !== null && (await hasGateway(shell));
  await files.remove(id);
  if (json) output.json({ removed: id, goesOn });
  else {
    output.line(`Job ${id} is removed; session ${printable(shortName(session))} stays.`);
    if (goesOn)
      output.line('Its run goes on to its end; "clew approvals list" tells whether it waits.');
  }
  return EXIT.done;
}

async function requireJob(files: JobFiles, id: string): Promise<Job> {
  const job = (await files.jobs()).find((each) => each.id === id);
  if (job !== undefined) return job;
  throw invalid(`There is no job "${id}"; "clew cron list" lists them.`);
}

const invalid = (message: string) => new ContextEngineError("REQUEST_INVALID", message);

const momentText = (at: number) =>
  `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
