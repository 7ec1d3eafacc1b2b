// What appends, tails and turns cost in PostgreSQL beside SQLite and files.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeliveryLedger, TranscriptPort } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import {
  passThrough,
  testHost,
  tools,
} from "../../../../packages/engine-core/src/__fixtures__/host.ts";
import { openDatabase } from "../../../../packages/store-postgres/src/database.ts";
import { newestQuestion } from "../../../../packages/store-postgres/src/read.ts";
import { openPostgresStore } from "../../../../packages/store-postgres/src/store.ts";
import { startDistantProxy } from "../../../../packages/store-postgres/src/testing/distant-proxy.ts";
import {
  createDatabase,
  startPostgres,
  type TestServer,
} from "../../../../packages/store-postgres/src/testing/server.ts";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import { POSTGRES_PORTS } from "../../../gateway/src/storage/postgres/ports.ts";
import { openFloor } from "../lossless/floor.ts";
import {
  type BenchCase,
  type CaseResult,
  defineBench,
  type PreparedCase,
} from "../runner/bench.ts";

/** What the sessions hold before anything is measured. */
const MESSAGES = 1000;
const TAIL = 64;
/** One way, ms: with the timers' grain about 2.7 ms there and back. */
const DISTANCE_MS = 1;

const textOf = (index: number) =>
  `Message ${index}: what stands in src/module-${index % 97}.ts, `.repeat(12);
const said = (index: number): AgentMessage =>
  index % 2 === 0
    ? { role: "user", content: textOf(index) }
    : { role: "assistant", content: [{ type: "text", text: textOf(index) }], stopReason: "stop" };
const entry = (index: number): NewTranscriptEntry => ({ type: "message", message: said(index) });
const filled = Array.from({ length: MESSAGES }, (_, index) => entry(index));

/** One server for all cases; commits wait for the disk. */
let shared: { server: Promise<TestServer>; users: number } | undefined;
async function withServer() {
  const folder = join(tmpdir(), `clew-speed-${process.pid}`);
  shared ??= { server: startPostgres({ folder, isDurable: true }), users: 0 };
  const { server } = shared;
  shared.users += 1;
  const name = `speed-${shared.users}`;
  const url = await createDatabase(await server, name);
  const leave = async () => {
    if (shared === undefined || --shared.users > 0) return;
    shared = undefined;
    await (await server).stop();
  };
  return { url, leave };
}

const inFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "clew-speed-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
};

/** A session in PostgreSQL that holds the messages, and what its store was asked. */
async function inPostgres(distanceMs = 0) {
  const { url, leave } = await withServer();
  const far = distanceMs > 0 ? await startDistantProxy(url, distanceMs) : undefined;
  const trips: string[] = [];
  const store = await openPostgresStore<DeliveryLedger>({
    ...{ url: far?.url ?? url, address: "http://127.0.0.1:1", ports: POSTGRES_PORTS },
    // It must not count as dead on a busy machine.
    ttlMs: 120_000,
    onRoundTrip: ({ statements }) => void trips.push(statements.join("+")),
  });
  const transcript = await store.open({ agentId: "main", key: "agent:main:speed" });
  await transcript.append(filled);
  const dispose = async () => {
    await transcript.close();
    await store.close();
    await far?.close();
    await leave();
  };
  return { url, transcript, dispose, asked: () => trips.filter((name) => name !== "node-beat") };
}

async function inFiles() {
  const { folder, remove } = inFolder();
  const store = createSessionStore({ home: folder });
  const transcript = await store.open({ key: "speed", cwd: folder });
  await transcript.append(filled);
  const dispose = async () => {
    await transcript.close();
    remove();
  };
  return { transcript, dispose };
}

const APPENDED = [MESSAGES, MESSAGES + 1].map(entry);

/** What a turn stores at least, by one call. */
const appends = async ({
  transcript,
  dispose,
}: {
  transcript: TranscriptPort;
  dispose(): Promise<void>;
}): Promise<PreparedCase> => ({
  run: () =>
    transcript.appendStep?.({ entries: APPENDED, deliveries: [], report: null }) ??
    transcript.append(APPENDED),
  dispose,
});

const CALL = { type: "toolCall" as const, id: "c1", name: "t", arguments: {} };

/** A turn with `calls` tool calls, one after the other, whose model answers at once. */
async function turns(
  world: { transcript: TranscriptPort; dispose(): Promise<void>; asked?: () => string[] },
  calls: number,
): Promise<PreparedCase> {
  const { transcript, dispose, asked } = world;
  const reply = (call: number) =>
    call < calls
      ? { role: "assistant" as const, content: [{ ...CALL }], stopReason: "toolUse" as const }
      : "done";
  // More than are asked for.
  const replies = Array.from({ length: 20_000 }, (_, index) => reply(index % (calls + 1)));
  const host = testHost({
    engine: passThrough({ info: { id: "bench", name: "Bench" }, afterTurn() {} }),
    replies,
    tools: tools({ t: () => "x" }),
    ports: { transcript } as never,
  });
  await host.say("first");
  const before = asked?.().length ?? 0;
  let done = 0;
  return {
    run: async () => {
      done += 1;
      return host.say("next");
    },
    facts: (): Record<string, number> =>
      asked === undefined ? {} : { roundTrips: (asked().length - before) / done },
    dispose,
  };
}

async function sqlite(of: "turn" | "tail"): Promise<PreparedCase> {
  const { folder, remove } = inFolder();
  const floor = openFloor(folder);
  await floor.tell(filled.map((_, index) => said(index)));
  const told = [MESSAGES, MESSAGES + 1].map(said);
  return {
    run: () => (of === "turn" ? floor.tell(told) : floor.assemble([])),
    dispose: async () => {
      await floor.close();
      remove();
    },
  };
}

async function postgresTail(): Promise<PreparedCase> {
  const { url, dispose } = await inPostgres();
  const database = openDatabase({ url, connections: 1, timeoutMs: 15_000 });
  const { statement, values } = newestQuestion({ agentId: "main", key: "agent:main:speed" }, TAIL);
  return {
    run: async () => (await database.ask(statement, values)).map(({ body }) => JSON.parse(body)),
    dispose: async () => {
      await database.end();
      await dispose();
    },
  };
}

const CASES: readonly BenchCase[] = [
  { name: "append, sqlite floor", prepare: () => sqlite("turn") },
  {
    name: "append, files",
    compareTo: "append, sqlite floor",
    prepare: async () => appends(await inFiles()),
  },
  {
    name: "append, postgres",
    // Both wait for the disk, which the floor does not.
    compareTo: "append, files",
    prepare: async () => appends(await inPostgres()),
  },
  { name: "tail of 64, sqlite floor", prepare: () => sqlite("tail") },
  {
    name: "tail of 64, postgres",
    compareTo: "tail of 64, sqlite floor",
    prepare: postgresTail,
  },
  ...[0, 1].flatMap((calls): BenchCase[] => {
    const what = calls === 0 ? "plain turn" : "turn with a tool";
    return [
      { name: `${what}, files`, prepare: async () => turns(await inFiles(), calls) },
      {
        name: `${what}, postgres`,
        compareTo: `${what}, files`,
        prepare: async () => turns(await inPostgres(), calls),
      },
      {
        name: `${what}, postgres far away`,
        compareTo: `${what}, postgres`,
        prepare: async () => turns(await inPostgres(DISTANCE_MS), calls),
      },
    ];
  }),
];

const tripsOf = (results: ReadonlyMap<string, CaseResult>, name: string) =>
  results.get(name)?.facts?.roundTrips;

export default defineBench({
  name: "postgres-speed",
  description:
    "appends, tails and turns in PostgreSQL beside SQLite and files; goals: append ≤ ×2 of files, tail ≤ ×4; a plain turn 3 round trips, a tool call 2 more",
  rounds: 25,
  cases: CASES,
  check(results) {
    const wanted: Record<string, number> = {
      "plain turn, postgres": 3,
      "turn with a tool, postgres": 5,
    };
    return Object.entries(wanted).flatMap(([name, trips]) =>
      results.has(name) && tripsOf(results, name) !== trips
        ? [`A ${name} asks ${tripsOf(results, name)} times, not ${trips}.`]
        : [],
    );
  },
});
