// Runs the `clew cron` commands.
import { randomBytes } from "node:crypto";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { agentIds, defaultAgentId } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import type { Job, JobRun } from "../../cron/job.ts";
import { clockOf, type JobStore } from "../../cron/job-store.ts";
import { planClockMend, planJob } from "../../cron/plan-job.ts";
import { dueAfter, parseSchedule, whyNoTimeZone } from "../../cron/schedule.ts";
import { findOwnGateway } from "../../gateway-client.ts";
import { isSafeId, type SessionName, shortName } from "../../sessions/keys.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { nearestName } from "../../text/nearest.ts";
import { storedSessions } from "../stored-sessions.ts";

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
  const storage = await storedSessions(environment);
  const { jobs: store } = storage;
  const known = await store.jobs();
  const now = clockOf(store, Date).now();
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
  if (known.some((job) => job.id === id))
    throw invalid(
      `The job was not added: there is a job "${id}"; "clew cron rm ${id}" removes it.`,
    );
  const session = requireSessionName(options.session ?? `cron:${id}`, defaultAgentId(config));
  await requireAgent(session, agentIds(config), storage);
  const job: Job = {
    ...{ v: 1, id, session: session.key, message: options.message },
    ...{ schedule: options.schedule.trim(), timeZone, maxLateMinutes },
    ...{ kind: options.heartbeat === true ? "heartbeat" : "cron", enabled: true },
    ...{ createdAt: now, enabledAt: now, askedAt: 0 },
  };
  await store.write(job);
  if (options.json === true) output.json({ job: { ...job, next } });
  else {
    output.line(
      `Job ${id} runs next at ${momentText(next)}, in session ${printable(shortName(job.session))}.`,
    );
    if (!(await hasGateway(store, shell)))
      output.note(`clew: ${nobodyOf(store)}; jobs run once "clew start" does.`);
  }
  return EXIT.done;
}

/** A job in a session that is there goes on, whoever its agent is. */
async function requireAgent(
  { agentId, name, key }: SessionName,
  known: readonly string[],
  { sessions }: Pick<Storage, "sessions">,
): Promise<void> {
  if (known.includes(agentId) || (await sessions.find(key)) !== null) return;
  throw invalid(
    `The job was not added: there is no agent "${agentId}" in agents.list, only ${known.join(", ")}; add it there, or name a session of another one, such as --session agent:${nearestName(agentId, known) ?? known[0]}:${name}.`,
  );
}

/** False: nobody runs jobs now. */
async function hasGateway(
  { shared }: JobStore,
  { environment }: Pick<Shell, "environment">,
): Promise<boolean> {
  if (shared !== undefined) return (await shared.gateways()) > 0;
  const { config } = await loadConfig(environment.configFile);
  const { kind } = await findOwnGateway({ home: environment.home, port: config.gateway.port });
  return kind !== "none" && kind !== "stranger";
}

const nobodyOf = ({ shared }: JobStore): string =>
  `no gateway of this ${shared === undefined ? "home" : "database"} runs now`;

export async function cronList({ json = false }: Asked, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const { jobs: store } = await storedSessions(environment);
  const unreadable: string[] = [];
  const jobs = await store.jobs((file) => unreadable.push(file));
  const found = await Promise.all(
    jobs.map((job) => describeJob(store, job, clockOf(store, Date).now())),
  );
  const isRunning = found.some(({ status }) => status === "running");
  const isKilled = isRunning && !(await hasGateway(store, shell));
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

async function describeJob(store: JobStore, job: Job, now: number): Promise<ListedJob> {
  const known = await store.state(job.id);
  // As a gateway that looks at it will.
  const state = planClockMend(job, known, now) ?? known;
  const [last = null] = await store.runs(job.id, 1);
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
  const { jobs: store } = await storedSessions(environment);
  const job = await requireJob(store, id);
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1)
    throw invalid(`--limit "${limit}" is no whole number above 0.`);
  const runs = await store.runs(job.id, most);
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
  const { jobs: store } = await storedSessions(environment);
  const job = await requireJob(store, id);
  // A clock that was ahead may have asked before.
  const { askedUntil } = await store.state(id);
  const askedAt = Math.max(clockOf(store, Date).now(), job.askedAt + 1, askedUntil + 1);
  await store.write({ ...job, askedAt });
  const waitsForGateway = !(await hasGateway(store, shell));
  const when = waitsForGateway ? `once "clew start" does, as ${nobodyOf(store)}` : "within seconds";
  if (json) output.json({ job: id, askedAt, waitsForGateway });
  else output.line(`Job ${id} runs ${when}; "clew cron history ${id}" tells how it went.`);
  return EXIT.done;
}

export async function cronEnable(
  id: string,
  { enabled, json = false }: Asked & { enabled: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { jobs: store } = await storedSessions(environment);
  const job = await requireJob(store, id);
  const isNew = enabled && !job.enabled;
  const changed = { ...job, enabled, ...(isNew && { enabledAt: clockOf(store, Date).now() }) };
  await store.write(changed);
  const { next } = await describeJob(store, changed, clockOf(store, Date).now());
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
  const { jobs: store } = await storedSessions(environment);
  const { session } = await requireJob(store, id);
  const goesOn = (await store.state(id)).run !== null && (await hasGateway(store, shell));
  await store.remove(id);
  if (json) output.json({ removed: id, goesOn });
  else {
    output.line(`Job ${id} is removed; session ${printable(shortName(session))} stays.`);
    if (goesOn)
      output.line('Its run goes on to its end; "clew approvals list" tells whether it waits.');
  }
  return EXIT.done;
}

async function requireJob(store: JobStore, id: string): Promise<Job> {
  const job = (await store.jobs()).find((each) => each.id === id);
  if (job !== undefined) return job;
  throw invalid(`There is no job "${id}"; "clew cron list" lists them.`);
}

const invalid = (message: string) => new ContextEngineError("REQUEST_INVALID", message);

const momentText = (at: number) =>
  `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
