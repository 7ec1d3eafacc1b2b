// Kills gateways of one database while clients talk to any of them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { textOf } from "@clew/plugin-sdk/transcript";
import { readEvents } from "../http/read-events.ts";

export interface KilledGatewaysPlan {
  /** The database's address. */
  databaseUrl: string;
  sessions: number;
  /** Messages that are said in each, in order, by one client each. Absent: until all is over. */
  messages?: number;
  kills: number;
  /** Time from one gateway's start to the next one's end, ms. */
  killEveryMs: number;
  /** A gateway that was not heard of for so long is dead. */
  deadAfterSeconds: number;
  /** The command that runs a gateway. Absent: its sources. */
  command?: readonly string[];
  /** Behind what each message says. Absent: nothing. */
  padding?: string;
  /** Of `storage`, besides where the database is. Absent: none. */
  storage?: Readonly<Record<string, unknown>>;
  /** Settings besides where sessions are. Absent: none. */
  config?: Readonly<Record<string, unknown>>;
  /** Variables of its process besides. Absent: none. */
  env?: Readonly<Record<string, string>>;
  onKill?: (done: number) => void;
  /**
   * Befalls the database in the place of each kill; a gateway that ends by it is started again, as
   * a supervisor would. Absent: gateways are killed.
   */
  trouble?: (number: number) => Promise<void>;
}

export interface KilledGatewaysResult {
  /** Messages that clients were told the end of. */
  acknowledged: number;
  /** Times that a client had to send a message again. */
  repeated: number;
  /** Messages that are not there though they were acknowledged, or that are there twice. */
  lost: string[];
  doubled: string[];
  /** Sessions in which a message stands before an earlier one. */
  misplaced: string[];
  /** From a kill to the next answer in the first session, whoever had it, ms. */
  takeovers: number[];
  /** Exit codes of gateways that ended by themselves. */
  ended: (number | null)[];
}

export interface Place {
  port: number;
  home: string;
  child: ChildProcess;
}

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const FROM_SOURCES = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning", MAIN];

export async function killGatewaysOverHttp(
  plan: KilledGatewaysPlan,
): Promise<KilledGatewaysResult> {
  const places = await Promise.all([0, 1].map(() => startPlace(plan)));
  const result: KilledGatewaysResult = {
    ...{ acknowledged: 0, repeated: 0, lost: [], doubled: [], misplaced: [], takeovers: [] },
    ended: [],
  };
  const noted: Promise<void>[] = [];
  try {
    const over = new AbortController();
    const clients = Array.from({ length: plan.sessions }, (_, session) =>
      talk(places, { ...plan, session, over: over.signal }, result),
    );
    const talking = Promise.all(clients).finally(() => over.abort());
    for (let kill = 0; kill < plan.kills && !over.signal.aborted; kill++) {
      await Promise.race([after(plan.killEveryMs), talking]);
      if (plan.trouble !== undefined) {
        await plan.trouble(kill);
        await startEnded(plan, places, result);
        plan.onKill?.(kill + 1);
        continue;
      }
      const place = places[kill % places.length]!;
      place.child.kill("SIGKILL");
      const killedAt = performance.now();
      await once(place.child, "exit");
      noted.push(noteTakeover(place, places, killedAt, result));
      place.child = await startAgain(plan, place);
      plan.onKill?.(kill + 1);
    }
    await Promise.race([after(plan.killEveryMs), talking]);
    if (plan.messages === undefined) over.abort();
    const isTold = talking.then(() => true);
    // Also one that ends only now is needed by those who still wait.
    while (!(await Promise.race([isTold, after(500)]))) await startEnded(plan, places, result);
    const said = await talking;
    await Promise.all(noted);
    for (const [session, messages] of said.entries())
      await judge(places[0]!, { ...plan, session, messages }, result);
    return result;
  } finally {
    await Promise.all(places.map(stopPlace));
  }
}

async function startEnded(
  plan: KilledGatewaysPlan,
  places: readonly Place[],
  { ended }: KilledGatewaysResult,
): Promise<void> {
  for (const place of places) {
    const { exitCode, signalCode } = place.child;
    if (exitCode === null && signalCode === null) continue;
    ended.push(exitCode);
    place.child = await startAgain(plan, place);
  }
}

export async function stopPlace({ child, home }: Place): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  await rm(home, { recursive: true, force: true });
}

/** As if its machine had failed. */
export async function killPlace({ child }: Place): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

export type GatewayPlan = Pick<
  KilledGatewaysPlan,
  "databaseUrl" | "deadAfterSeconds" | "command" | "storage" | "config" | "env"
>;

/** A gateway in a home of its own. */
export async function startPlace(plan: GatewayPlan): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), "clew-cluster-"));
  const port = await freePort();
  const storage = {
    ...{ driver: "postgres", url: plan.databaseUrl, connections: 4 },
    deadAfterSeconds: plan.deadAfterSeconds,
    ...plan.storage,
  };
  const gateway = { ...(plan.config?.gateway as object | undefined), port };
  const config = { door: { enabled: false }, ...plan.config, storage, gateway };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  return { port, home, child: await startAgain(plan, { home }) };
}

/** The gateway of a home, once it answers. */
export async function startAgain(
  { command = FROM_SOURCES, env = {} }: GatewayPlan,
  { home }: Pick<Place, "home">,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...command, "start", "--json"], {
    env: { ...process.env, CLEW_HOME: home, CLEW_DEMO: "off", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr!.on("data", (piece) => {
    said = `${said}${piece}`.slice(-2000);
  });
  const first = await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
  child.stdout!.resume();
  if (typeof first[0] === "number" || child.exitCode !== null)
    throw new Error(`a gateway did not start: ${said}`);
  return child;
}

/** One client: says its messages in order, each to any gateway until its end is told; how many. */
async function talk(
  places: readonly Place[],
  {
    session,
    messages,
    padding = "",
    over,
  }: Pick<KilledGatewaysPlan, "messages" | "padding"> & { session: number; over: AbortSignal },
  result: KilledGatewaysResult,
): Promise<number> {
  for (let number = 1; ; number++) {
    if (number > (messages ?? Infinity) || (messages === undefined && over.aborted))
      return number - 1;
    const text = `${session}.${number}`;
    for (let attempt = 0; ; attempt++) {
      const { port } = places[(session + number + attempt) % places.length]!;
      if (await isSaid(port, `s${session}`, text, `${text}${padding}`)) break;
      result.repeated += 1;
      await after(100);
    }
    result.acknowledged += 1;
    await after(20);
  }
}

/** Under its own name, so that it is said once however often it is sent. */
export async function isSaid(
  port: number,
  session: string,
  name: string,
  text = name,
): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/sessions/${session}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ text, idempotencyKey: name }),
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return false;
    }
    let isDone = false;
    // Whoever is told that it could not be stored sends it again.
    for await (const event of readEvents(response.body))
      isDone ||= event.type === "done" && event.error?.code !== "STORAGE_FAILED";
    return isDone;
  } catch {
    return false;
  }
}

/** When a session that the dead one may have had is answered again. */
async function noteTakeover(
  dead: Place,
  places: readonly Place[],
  killedAt: number,
  { takeovers }: KilledGatewaysResult,
): Promise<void> {
  const other = places.find((place) => place !== dead)!;
  while (!(await isSaid(other.port, "s0", `probe ${killedAt}`))) await after(50);
  takeovers.push(Math.round(performance.now() - killedAt));
}

async function judge(
  { port }: Place,
  { session, messages, padding = "" }: { session: number; messages: number; padding?: string },
  result: KilledGatewaysResult,
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/sessions/s${session}?limit=100000`);
  const { entries = [] } = (await response.json()) as { entries?: ShownEntry[] };
  const said = entries.flatMap(({ message }) =>
    message?.role === "user" ? [withoutEnd(textOf(message as never), padding)] : [],
  );
  const own = said.filter((text) => text.startsWith(`${session}.`));
  const wanted = Array.from({ length: messages }, (_, index) => `${session}.${index + 1}`);
  const times = (text: string) => own.filter((each) => each === text).length;
  result.lost.push(...wanted.filter((text) => times(text) === 0));
  result.doubled.push(...wanted.filter((text) => times(text) > 1));
  if (own.join() !== wanted.filter((text) => times(text) > 0).join())
    result.misplaced.push(`s${session}`);
}

const withoutEnd = (text: string, end: string): string =>
  end !== "" && text.endsWith(end) ? text.slice(0, -end.length) : text;

interface ShownEntry {
  message?: { role: string };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
